/** Plain text and Markdown: the encoding is found out, the words stay as they are. */
import type { Parser } from '../parsed.ts';
import { decodeText } from './decode-text.ts';

export const parseText: Parser = async ({ bytes, charset: declared }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  return { title: null, language: null, markdown: text, meta: charsetMeta(charset, isGuess) };
};

export const parseMarkdown: Parser = async ({ bytes, charset: declared }) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  const { fields, body } = readFrontMatter(text.replaceAll('\r\n', '\n'));
  const { title, author, date, lang, language } = fields;
  return {
    title: title ?? null,
    language: lang ?? language ?? null,
    markdown: body,
    meta: {
      ...charsetMeta(charset, isGuess),
      ...(author !== undefined && { author }),
      ...(date !== undefined && { date }),
    },
  };
};

export function charsetMeta(charset: string, isGuess: boolean): Record<string, string | boolean> {
  if (charset === 'utf-8') return {};
  return { charset, ...(isGuess && { encoding_guess: true }) };
}

interface FrontMatter {
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Only plain `name: value` lines are read: the rest of YAML says nothing that is asked here. */
function readFrontMatter(text: string): FrontMatter {
  const found = /^---[ \t]*\n([\s\S]{0,65536}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text);
  if (!found) return { fields: {}, body: text };
  const lines = (found[1] ?? '').matchAll(/^([A-Za-z][\w-]{0,40}):[ \t]+(\S.*)$/gm);
  const fields = Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [name.toLowerCase(), unquoted(value.trim())]),
  );
  return { fields, body: text.slice(found[0].length) };
}

function unquoted(value: string): string {
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
}
