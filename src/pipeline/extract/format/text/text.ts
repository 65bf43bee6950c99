/** Plain text and Markdown: the charset is detected, the words are unchanged. */
import type { Parsed, Parser } from '../../parsed.ts';
import { extensionOf } from '../names.ts';
import { decodeText } from './decode-text.ts';
import { type Field, type FrontMatter, readFrontMatter } from './front-matter.ts';
import { readMarkdown } from './markdown-source.ts';

export const parseText: Parser = async ({ bytes, charset: declared }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  return { title: null, language: null, markdown: text, meta: charsetMeta(charset, isGuess) };
};

export const parseMarkdown: Parser = async ({ bytes, source, charset: declared }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  const { fields, body, metadata } = readFrontMatter(text.replace(/\r\n?/g, '\n'));
  const markdown = readMarkdown(body, { isMdx: extensionOf(source) === 'mdx' });
  const title = wordsOf(fields.title ?? fields.linktitle);
  return {
    title: title ?? null,
    language: wordsOf(fields.lang ?? fields.language) ?? null,
    // A page with only front matter is found by that.
    markdown: markdown.trim() === '' ? toldBy(fields, title) : markdown,
    meta: { ...charsetMeta(charset, isGuess), ...metaOf(fields) },
    ...(metadata && { metadata }),
  };
};

/** Metadata fields, and the names that generators use for them. */
const metaFields: Readonly<Record<string, readonly string[]>> = {
  author: ['author', 'authors'],
  date: ['date', 'published', 'pubdate'],
  description: ['description', 'summary', 'excerpt'],
  tags: ['tags', 'keywords', 'categories'],
};

function metaOf(fields: FrontMatter['fields']): Parsed['meta'] {
  return Object.fromEntries(
    Object.entries(metaFields).flatMap(([name, aliases]) => {
      const value = wordsOf(aliases.map((alias) => fields[alias]).find((field) => field));
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function toldBy(fields: FrontMatter['fields'], title: string | undefined): string {
  const { description, tags } = metaOf(fields);
  return [title && `# ${title}`, description, tags].filter((part) => part).join('\n\n');
}

function wordsOf(field: Field | undefined): string | undefined {
  return (typeof field === 'string' ? field : field?.join(', ')) || undefined;
}

export function charsetMeta(charset: string, isGuess: boolean): Record<string, string | boolean> {
  if (charset === 'utf-8') return {};
  return { charset, ...(isGuess && { encoding_guess: true }) };
}
