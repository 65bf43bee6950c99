/**
 * Removes what no rule reads: scripts, styles, drawings, comments, emphasis, space between blocks,
 * and most attributes. The tree has a node for each, so this halves the cost of a page.
 */
import { scan } from './scan.ts';

/** Dropped with their content; without an end tag, only the tag itself is dropped. */
const dropped = new Set(
  'style noscript template svg object canvas video audio select iframe math'.split(' '),
);

const emphasis = new Set('b i em strong u big font nobr wbr bdi ins'.split(' '));

/** Between these, space separates words. */
const phrasing = new Set(
  `a abbr cite code del dfn img input kbd label mark picture q s samp small source span sub sup time
   tt var`.split(/\s+/),
);

const keptAttributes = new Set(
  `class id role hidden aria-hidden aria-modal style itemprop start lang xml:lang datetime property
   name content http-equiv rel href type`.split(/\s+/),
);

const attribute = /([^\s=>"'/]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]*))?/g;
const visibility = /display|visibility/i;

export function slim(html: string): string {
  const parts: string[] = [];
  const endless = new Set<string>();
  let skipping: string | undefined;
  let nested = 0;
  let codes = 0;
  let isBetweenBlocks = false;
  scan(html, {
    onText: (text) => {
      if (skipping !== undefined) return;
      if (isBetweenBlocks && codes === 0 && text.trim() === '') return;
      parts.push(text);
      isBetweenBlocks = false;
    },
    onTag: ({ name, isClosing, isSelfClosing, start, end }) => {
      if (skipping !== undefined) {
        if (name !== skipping) return;
        if (!isClosing) nested += isSelfClosing ? 0 : 1;
        else if (nested > 0) nested -= 1;
        else skipping = undefined;
        return;
      }
      const isDropped =
        dropped.has(name) || (name === 'script' && !isDeclaration(html, start, end));
      if (emphasis.has(name)) return;
      if (!isDropped) {
        isBetweenBlocks = !phrasing.has(name);
        if (name === 'pre') codes = Math.max(0, codes + (isClosing ? -1 : 1));
        parts.push(isClosing ? `</${name}>` : slimTag(name, html.slice(start, end)));
        return;
      }
      if (isClosing || isSelfClosing || !hasEnd(html, name, end, endless)) return;
      skipping = name;
      nested = 0;
    },
  });
  return parts.join('');
}

function isDeclaration(html: string, start: number, end: number): boolean {
  return (
    html.startsWith('</', start) || /ld\+json/i.test(html.slice(start, Math.min(end, start + 500)))
  );
}

/** A missing end is not searched for again: this keeps it one pass. */
function hasEnd(html: string, name: string, from: number, endless: Set<string>): boolean {
  if (endless.has(name)) return false;
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  const isFound = closing.test(html);
  if (!isFound) endless.add(name);
  return isFound;
}

function slimTag(name: string, tag: string): string {
  if (tag.length <= name.length + 3) return `<${name}>`;
  let attributes = '';
  attribute.lastIndex = name.length + 1;
  for (let found = attribute.exec(tag); found !== null; found = attribute.exec(tag)) {
    const [, key = '', value = ''] = found;
    const lower = key.toLowerCase();
    if (!keptAttributes.has(lower)) continue;
    if (lower === 'style' && !visibility.test(value)) continue;
    attributes += ` ${lower}=${lower === 'href' && name === 'a' ? slimHref(value) : quote(value)}`;
  }
  return `<${name}${attributes}>`;
}

/** Only whether it is a link, and whether it stays on the page, matters. */
function slimHref(value: string): string {
  return /^["']?#/.test(value) ? '"#x"' : '"/"';
}

function quote(value: string): string {
  return /^["']/.test(value) ? value : `"${value}"`;
}
