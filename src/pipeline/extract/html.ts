/**
 * HTML to Markdown in one pass: headings, paragraphs, lists; scripts, styles and navigation left
 * out. No tree is built and nothing is looked at twice, so no input, however deep or broken, costs
 * more than its length.
 */
import type { Extracted } from './extract.ts';

/** Their content is no markup: it ends only at their own end tag. */
const raw = new Set(['script', 'style', 'noscript', 'template', 'iframe', 'textarea', 'title']);
const skipped = new Set(['svg', 'nav', 'head']);

const breaks: Readonly<Record<string, string>> = {
  p: '\n\n',
  div: '\n\n',
  section: '\n\n',
  article: '\n\n',
  ul: '\n\n',
  ol: '\n\n',
  table: '\n\n',
  pre: '\n\n',
  blockquote: '\n\n',
  br: '\n',
  tr: '\n',
  td: ' ',
  th: ' ',
  li: '\n- ',
  h1: '\n\n# ',
  h2: '\n\n## ',
  h3: '\n\n### ',
  h4: '\n\n#### ',
  h5: '\n\n##### ',
  h6: '\n\n###### ',
};

/** A tag whose name is longer than this is none of ours. */
const tagNameMax = 32;

export function htmlToMarkdown(html: string): Extracted {
  const parts: string[] = [];
  const lower = html.toLowerCase();
  let title: string | null = null;
  let skipping: string | undefined;
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    const textEnd = open < 0 ? html.length : open;
    if (textEnd > at && skipping === undefined) parts.push(textOf(html.slice(at, textEnd)));
    if (open < 0) break;
    const tag = readTag(html, lower, open);
    at = tag.end;
    if (tag.name === undefined) {
      if (skipping === undefined) parts.push(tag.text);
    } else if (raw.has(tag.name) && !tag.isEnd) {
      const content = html.slice(at, endOf(lower, `</${tag.name}`, at));
      if (tag.name === 'title') title ??= textOf(content).trim() || null;
      at += content.length;
    } else if (skipping !== undefined) {
      if (tag.isEnd && tag.name === skipping) skipping = undefined;
    } else if (skipped.has(tag.name)) {
      if (!tag.isEnd) skipping = tag.name;
    } else {
      parts.push(tag.isEnd ? closing(tag.name) : (breaks[tag.name] ?? ''));
    }
  }
  return { title, text: tidy(parts.join('')) };
}

interface Tag {
  /** Undefined for what is no tag: a comment, or a stray `<`. */
  readonly name: string | undefined;
  readonly isEnd: boolean;
  readonly end: number;
  readonly text: string;
}

function readTag(html: string, lower: string, open: number): Tag {
  if (html.startsWith('<!--', open)) {
    return { name: undefined, isEnd: false, end: after(html, '-->', open + 4), text: '' };
  }
  if (html[open + 1] === '!' || html[open + 1] === '?') {
    return { name: undefined, isEnd: false, end: after(html, '>', open), text: '' };
  }
  const isEnd = html[open + 1] === '/';
  const start = open + (isEnd ? 2 : 1);
  const name = /^[a-z][a-z0-9-]*/.exec(lower.slice(start, start + tagNameMax))?.[0];
  if (name === undefined) return { name, isEnd: false, end: open + 1, text: '<' };
  return { name, isEnd, end: tagEnd(html, start + name.length), text: '' };
}

/** Behind the `>` that ends the tag: one inside quotes does not. */
function tagEnd(html: string, start: number): number {
  let quote = '';
  for (let at = start; at < html.length; at++) {
    const character = html[at] as string;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') return at + 1;
    else if ((character === '"' || character === "'") && html[at - 1] === '=') quote = character;
  }
  return html.length;
}

function after(html: string, mark: string, from: number): number {
  return endOf(html, mark, from) + mark.length;
}

function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found < 0 ? html.length : found;
}

/**
 * A block that ends separates what follows; a list item or a cell does so by the next one's start.
 */
function closing(tag: string): string {
  return (breaks[tag] ?? '').startsWith('\n\n') ? '\n\n' : '';
}

/** Line by line, so that a long run of blanks is passed once. */
function tidy(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed !== '' || lines.at(-1) !== '') lines.push(trimmed);
  }
  return lines.join('\n');
}

function textOf(markup: string): string {
  return decodeEntities(markup.replace(/\s+/g, ' '));
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
};

function decodeEntities(text: string): string {
  return text.replace(/&(#x?[0-9a-f]{1,8}|[a-z]{1,8});/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return named[entity.toLowerCase()] ?? whole;
    const hex = entity[1]?.toLowerCase() === 'x';
    const code = Number.parseInt(entity.slice(hex ? 2 : 1), hex ? 16 : 10);
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    return code > 0 && code <= 0x10ffff && !isHalf ? String.fromCodePoint(code) : whole;
  });
}
