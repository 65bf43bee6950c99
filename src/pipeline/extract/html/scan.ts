/**
 * HTML as a stream of tags and text, in one pass without a tree: what it costs grows with its
 * length and with nothing else. It serves to measure a page before a tree is built of it, and to
 * read the pages that no tree should be built of.
 */
export interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly isSelfClosing: boolean;
  /** Where the tag stands in the source. */
  readonly start: number;
  readonly end: number;
}

export interface Scanner {
  readonly onTag: (tag: Tag) => void;
  readonly onText: (text: string) => void;
}

const nameStart = /[a-zA-Z]/;
const namePattern = /[a-zA-Z][a-zA-Z0-9:-]{0,40}/y;
const rawTags = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'noembed', 'noframes']);

export function scan(html: string, { onTag, onText }: Scanner): void {
  let place = 0;
  while (place < html.length) {
    const open = html.indexOf('<', place);
    if (open < 0) break;
    if (open > place) onText(html.slice(place, open));
    const next = html[open + 1] ?? '';
    if (next === '!' || next === '?') {
      place = skipMarkup(html, open);
      continue;
    }
    const isClosing = next === '/';
    const nameAt = open + (isClosing ? 2 : 1);
    if (!nameStart.test(html[nameAt] ?? '')) {
      onText('<');
      place = open + 1;
      continue;
    }
    namePattern.lastIndex = nameAt;
    const name = (namePattern.exec(html)?.[0] ?? '').toLowerCase();
    place = endOfTag(html, nameAt + name.length);
    const isSelfClosing = html[place - 2] === '/';
    onTag({ name, isClosing, isSelfClosing, start: open, end: place });
    if (!isClosing && rawTags.has(name)) place = readRaw(html, place, { name, onText, onTag });
  }
  if (place < html.length) onText(html.slice(place));
}

function skipMarkup(html: string, open: number): number {
  const isComment = html.startsWith('<!--', open);
  const end = html.indexOf(isComment ? '-->' : '>', open + 2);
  return end < 0 ? html.length : end + (isComment ? 3 : 1);
}

/** A `>` inside a quoted value ends no tag; a quote that is never closed takes the rest with it. */
function endOfTag(html: string, from: number): number {
  let previous = '';
  for (let place = from; place < html.length; place += 1) {
    const character = html[place] ?? '';
    if (character === '>') return place + 1;
    if ((character === '"' || character === "'") && previous === '=') {
      const close = html.indexOf(character, place + 1);
      if (close < 0) return html.length;
      place = close;
    }
    if (character.trim() !== '') previous = character;
  }
  return html.length;
}

interface Raw extends Scanner {
  readonly name: string;
}

/** Inside these, nothing is a tag but their own end. */
function readRaw(html: string, from: number, { name, onText, onTag }: Raw): number {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  const end = closing.exec(html)?.index ?? html.length;
  if (end > from) onText(html.slice(from, end));
  if (end === html.length) return end;
  const after = endOfTag(html, end + name.length + 2);
  onTag({ name, isClosing: true, isSelfClosing: false, start: end, end: after });
  return after;
}
