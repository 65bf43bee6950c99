/**
 * HTML to Markdown in one pass over the tags: headings, paragraphs, lists; scripts, styles and
 * navigation left out. No tree is built, so no nesting, however deep, costs more than its length.
 */
import type { Extracted } from './extract.ts';

const skipped = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'nav',
  'head',
  'iframe',
]);

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

const token = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][a-z0-9-]*)(?:[^>"']|"[^"]*"|'[^']*')*>|[^<]+|</gi;

export function htmlToMarkdown(html: string): Extracted {
  const parts: string[] = [];
  let skipping: string | undefined;
  for (const [whole, slash, name] of html.matchAll(token)) {
    const tag = name?.toLowerCase();
    if (skipping !== undefined) {
      if (slash && tag === skipping) skipping = undefined;
    } else if (tag === undefined) {
      if (!whole.startsWith('<!--')) parts.push(decodeEntities(whole.replace(/\s+/g, ' ')));
    } else if (skipped.has(tag)) {
      if (!slash && !whole.endsWith('/>')) skipping = tag;
    } else {
      parts.push(slash ? closing(tag) : (breaks[tag] ?? ''));
    }
  }
  const text = parts
    .join('')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n[ \t]+/g, '\n')
    .replace(/\n{3,}/g, '\n\n');
  return { title: titleOf(html), text };
}

/**
 * A block that ends separates what follows; a list item or a cell does so by the next one's start.
 */
function closing(tag: string): string {
  return (breaks[tag] ?? '').startsWith('\n\n') ? '\n\n' : '';
}

function titleOf(html: string): string | null {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(html)?.[1];
  return title ? decodeEntities(title).replace(/\s+/g, ' ').trim() || null : null;
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
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (whole, entity: string) => {
    if (!entity.startsWith('#')) return named[entity.toLowerCase()] ?? whole;
    const hex = entity[1]?.toLowerCase() === 'x';
    const code = Number.parseInt(entity.slice(hex ? 2 : 1), hex ? 16 : 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
