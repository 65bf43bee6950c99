/**
 * HTML to Markdown in one pass over the tags: headings, paragraphs, lists; without scripts, styles
 * and navigation. No tree is built, so deep nesting costs nothing extra: this reads pages that are
 * too deep or too large for the tree.
 */
import { scan } from './scan.ts';

const titleCharactersMax = 1000;

const skipped = new Set(['script', 'style', 'noscript', 'template', 'svg', 'nav', 'iframe']);

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

export interface Flat {
  readonly title: string | undefined;
  readonly text: string;
}

export function flatten(html: string): Flat {
  const parts: string[] = [];
  let title: string | undefined;
  let skipping: string | undefined;
  let isTitle = false;
  scan(html, {
    onText: (text) => {
      if (isTitle) title ??= decodeEntities(text).replace(/\s+/g, ' ').trim();
      else if (skipping === undefined) parts.push(decodeEntities(text.replace(/\s+/g, ' ')));
    },
    onTag: ({ name, isClosing }) => {
      if (name === 'title') isTitle = !isClosing;
      if (skipping !== undefined) {
        if (isClosing && name === skipping) skipping = undefined;
      } else if (skipped.has(name)) {
        if (!isClosing) skipping = name;
      } else {
        parts.push(isClosing ? closing(name) : (breaks[name] ?? ''));
      }
    },
  });
  return { title: title?.slice(0, titleCharactersMax) || undefined, text: tidy(parts.join('')) };
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * The end of a block separates the next text; list items and cells are separated by the next start.
 */
function closing(tag: string): string {
  return (breaks[tag] ?? '').startsWith('\n\n') ? '\n\n' : '';
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
