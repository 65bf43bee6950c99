/**
 * The lines of a PDF page, upright and in reading order, for any text direction. Words and
 * positions come from the library; rotated and right-to-left pages are assembled here.
 */
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';

export interface Line {
  /** Parts of the line that are separated by a wide gap, in reading order. */
  readonly cells: readonly string[];
  readonly text: string;
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly turn: number;
}

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Upright text first, then text of each other direction. */
export function linesOf(page: ParsedPage): Line[] {
  const byTurn = new Map<number, Box[]>([0, 90, 180, 270].map((turn) => [turn, []]));
  for (const item of page.textItems) {
    const turn = turnOf(item);
    if (item.text.trim() !== '') byTurn.get(turn)?.push(upright(item, turn, page));
  }
  return [...byTurn].flatMap(([turn, boxes]) => toLines(boxes, turn));
}

/** Degrees clockwise, rounded to quarter turns. */
export function turnOf({ rotation = 0 }: TextItem): number {
  return (((Math.round(rotation / 90) % 4) + 4) % 4) * 90;
}

/** The position of an item after the page is rotated so that its text is upright. */
function upright(item: TextItem, turn: number, { width, height }: ParsedPage): Box {
  const { text, x, y, width: across, height: down } = item;
  switch (turn) {
    case 90:
      return { text, left: y, right: y + down, top: width - x - across, bottom: width - x };
    case 180:
      return {
        text,
        left: width - x - across,
        right: width - x,
        top: height - y - down,
        bottom: height - y,
      };
    case 270:
      return { text, left: height - y - down, right: height - y, top: x, bottom: x + across };
    default:
      return { text, left: x, right: x + across, top: y, bottom: y + down };
  }
}

function toLines(boxes: readonly Box[], turn: number): Line[] {
  const rows: Box[][] = [];
  for (const box of boxes.toSorted((one, other) => one.top - other.top || one.left - other.left)) {
    const row = rows.at(-1);
    const first = row?.[0];
    const middle = (box.top + box.bottom) / 2;
    if (row && first && middle < first.bottom && middle > first.top) row.push(box);
    else rows.push([box]);
  }
  return rows.map((row) => toLine(row, turn));
}

/** In letter heights: a gap between words, and one between columns. */
const gaps = { word: 0.15, cell: 1.5 };

function toLine(row: readonly Box[], turn: number): Line {
  const boxes = row.toSorted((one, other) => one.left - other.left);
  const cells: string[] = [];
  let previous: Box | undefined;
  for (const box of boxes) {
    const height = box.bottom - box.top;
    const gap = previous ? box.left - previous.right : Number.POSITIVE_INFINITY;
    if (gap > gaps.cell * height) cells.push(box.text.trim());
    else cells.push(`${cells.pop() ?? ''}${gap > gaps.word * height ? ' ' : ''}${box.text.trim()}`);
    previous = box;
  }
  const isRightToLeft = rightToLeftShare(cells.join(' ')) > 0.5;
  const ordered = isRightToLeft ? cells.toReversed().map(inReadingOrder) : cells;
  return {
    cells: ordered,
    text: ordered.join(' '),
    top: Math.min(...boxes.map(({ top }) => top)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
    left: boxes[0]?.left ?? 0,
    turn,
  };
}

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
const letters = /\p{L}/gu;

/** The share of right-to-left letters of a text. */
export function rightToLeftShare(text: string): number {
  // Fast path: most texts have none, and a search is much cheaper than counting letters.
  if (!rightToLeft.test(text)) return 0;
  const all = text.match(letters) ?? [];
  return all.length === 0
    ? 0
    : all.filter((letter) => rightToLeft.test(letter)).length / all.length;
}

/**
 * The library returns the words of a line from left to right, each spelled in reading order. Runs
 * of left-to-right words, such as names and figures, keep their order.
 */
function inReadingOrder(text: string): string {
  const runs: string[][] = [];
  let wasLeftToRight = false;
  for (const word of text
    .split(/\s+/)
    .filter((each) => each !== '')
    .map(withMarksBehind)) {
    const isLeftToRight = !rightToLeft.test(word) && /[\p{L}\p{N}]/u.test(word);
    if (isLeftToRight && wasLeftToRight) runs.at(-1)?.push(word);
    else runs.push([word]);
    wasLeftToRight = isLeftToRight;
  }
  return runs.reverse().flat().join(' ');
}

/** Punctuation at the end of a word is on its left, which the library takes for its start. */
function withMarksBehind(word: string): string {
  return word.replace(/^([.,;:!?،؛؟]+)(.+)$/su, '$2$1');
}
