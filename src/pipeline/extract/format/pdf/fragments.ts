/**
 * The words of a PDF page with their positions, and lines of fragments. A fragment is a run of
 * words without a gap wide enough to separate two columns.
 */
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { turnOf } from './lines.ts';

export interface Word {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Rotation on the page, in degrees. */
  readonly turn: number;
  /** Preceded by a space, however narrow. */
  readonly isSpaced: boolean;
}

export interface Fragment {
  readonly words: readonly Word[];
  readonly left: number;
  readonly right: number;
}

export interface FragmentLine {
  readonly fragments: readonly Fragment[];
  readonly top: number;
  readonly bottom: number;
}

export function wordsOn({ textItems }: ParsedPage): Word[] {
  return textItems.flatMap((item) => {
    if (item.text.trim() === '') return [];
    const turn = turnOf(item);
    const parts = turn === 0 && isSplit(item) ? (item.words ?? [item]) : [item];
    return parts.map(({ text, x, y, width, height }, at) => ({
      text: text.trim(),
      left: x,
      right: x + width,
      top: y,
      bottom: y + height,
      turn,
      isSpaced: at > 0,
    }));
  });
}

/**
 * Whether so many lines of the page may have several fragments: each has two adjacent items, or one
 * with a gap. Pages of prose rarely do, which is known without their words.
 */
export function mayBeSideBySide({ textItems }: ParsedPage, lines: number): boolean {
  const items = textItems.filter((item) => turnOf(item) === 0 && item.text.trim() !== '');
  let count = 0;
  let lowest = Number.NEGATIVE_INFINITY;
  for (const item of items.sort((one, other) => one.y - other.y)) {
    if (item.y + item.height / 2 < lowest || hasGap(item)) count += 1;
    if (count >= lines) return true;
    lowest = Math.max(lowest, item.y + item.height);
  }
  return false;
}

/** Whether its words may be several fragments: they are apart, or not on one line. */
function hasGap({ words = [], y, height }: TextItem): boolean {
  return words.some((word, at) => {
    const before = words[at - 1] ?? word;
    const gap = Math.max(word.x - before.x - before.width, before.x - word.x - word.width);
    return gap > fragmentGap * height || word.y !== y || word.height !== height;
  });
}

/** Whether the words of an item are all of its text. */
function isSplit({ text, words }: TextItem): boolean {
  if (!words) return false;
  let at = 0;
  for (const { text: word } of words) {
    for (let index = 0; index < word.length; index += 1, at += 1) {
      at = afterSpace(text, at);
      if (text.charCodeAt(at) !== word.charCodeAt(index)) return false;
    }
  }
  return afterSpace(text, at) === text.length;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** The regular expression runs only if it may match: it is slower than everything else here. */
function isSpace(code: number): boolean {
  if (code === 0x20) return true;
  const mayBe = code < 0x20 || code === 0xa0 || code >= 0x1680;
  return mayBe && /\s/.test(String.fromCharCode(code));
}

/** From top to bottom; a word is on a line if its middle is within the line's first word. */
export function fragmentLines(words: readonly Word[]): FragmentLine[] {
  const rows: Word[][] = [];
  for (const word of words.toSorted((one, other) => one.top - other.top)) {
    const first = rows.at(-1)?.[0];
    const middle = (word.top + word.bottom) / 2;
    if (first && middle < first.bottom && middle > first.top) rows.at(-1)?.push(word);
    else rows.push([word]);
  }
  return rows.map(toLine);
}

/** In letter heights. Justified text has narrower gaps between its words. */
const fragmentGap = 0.75;

function toLine(row: readonly Word[]): FragmentLine {
  const fragments: { words: Word[]; left: number; right: number }[] = [];
  let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const word of row.toSorted((one, other) => one.left - other.left)) {
    top = Math.min(top, word.top);
    bottom = Math.max(bottom, word.bottom);
    const last = fragments.at(-1);
    if (last && word.left - last.right <= fragmentGap * (word.bottom - word.top)) {
      last.words.push(word);
      last.right = Math.max(last.right, word.right);
    } else fragments.push({ words: [word], left: word.left, right: word.right });
  }
  return { fragments, top, bottom };
}

/** In letter heights: closer letters belong to one word. */
const wordGap = 0.1;

/** The words of one or more lines, each from left to right. */
export function textOf(words: readonly Word[]): string {
  let text = '';
  let last: Word | undefined;
  for (const word of words) {
    const gap = last ? word.left - last.right : 0;
    const isNear = last && gap >= -1 && gap < wordGap * (word.bottom - word.top);
    text += (isNear && !word.isSpaced) || text === '' ? word.text : ` ${word.text}`;
    last = word;
  }
  return text;
}
