/**
 * HTML as a stream of tags and text, in one pass without a tree: the cost depends only on the
 * length. Used to measure a page before a tree is built, and to read pages that are too large for a
 * tree.
 */
export interface Tag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly isSelfClosing: boolean;
  /** The position of the tag in the source. */
  readonly start: number;
  readonly end: number;
}

export interface Scanner {
  readonly onTag: (tag: Tag) => void;
  readonly onText: (text: string) => void;
}

const nameCharactersMax = 41;
const codes = { quote: 34, apostrophe: 39, dash: 45, zero: 48, colon: 58, equals: 61, end: 62 };
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
    if (!isLetter(html.charCodeAt(nameAt))) {
      onText('<');
      place = open + 1;
      continue;
    }
    const name = html.slice(nameAt, endOfName(html, nameAt)).toLowerCase();
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

function isLetter(code: number): boolean {
  const small = code | 32;
  return small >= 97 && small <= 122;
}

function endOfName(html: string, from: number): number {
  const end = Math.min(html.length, from + nameCharactersMax);
  for (let place = from; place < end; place += 1) {
    const code = html.charCodeAt(place);
    const isPart = isLetter(code) || (code >= codes.zero && code <= codes.colon);
    if (!isPart && code !== codes.dash) return place;
  }
  return end;
}

/** A `>` inside a quoted value does not end a tag; an unclosed quote extends to the end. */
function endOfTag(html: string, from: number): number {
  let isValue = false;
  for (let place = from; place < html.length; place += 1) {
    const code = html.charCodeAt(place);
    if (code === codes.end) return place + 1;
    if (isValue && (code === codes.quote || code === codes.apostrophe)) {
      place = html.indexOf(code === codes.quote ? '"' : "'", place + 1);
      if (place < 0) return html.length;
    }
    if (!isBlank(code)) isValue = code === codes.equals;
  }
  return html.length;
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

interface Raw extends Scanner {
  readonly name: string;
}

/** Inside these, only their own end is a tag. */
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
