/**
 * The tables of a page, inserted into the library's Markdown in place of their words. The library's
 * blocks have positions: a block inside a table is removed, a block with other words keeps those.
 * If the letters of the page would not come out the same, nothing is changed.
 */
import type { LayoutBlock, ParsedPage } from '@llamaindex/liteparse';
import { limits } from '../../../../kernel/limits/limits.ts';
import { toTable } from '../table.ts';
import { alignedRegions, rowsMin } from './aligned.ts';
import { blockMarkdown, joinBlocks } from './block.ts';
import { fragmentLines, mayBeSideBySide, textOf, type Word, wordsOn } from './fragments.ts';
import { tableRows } from './rows.ts';
import { type Rules, ruledTables, rulesOf } from './ruled.ts';

export interface PageTable {
  readonly markdown: string;
  readonly columns: number;
  readonly left: number;
}

export interface WithTables {
  readonly markdown: string;
  readonly tables: readonly PageTable[];
}

interface Table extends PageTable {
  readonly words: readonly Word[];
}

/** The Markdown of a page with its tables. */
export function withTables(page: ParsedPage): WithTables {
  const unchanged = { markdown: page.markdown, tables: [] };
  const rules = rulesOf(page);
  if (!rules && !mayBeSideBySide(page, rowsMin)) return unchanged;
  const words = wordsOn(page);
  const blocks = page.blocks ?? [];
  if (words.length * blocks.length > limits.parse.pdfTableWorkMax) return unchanged;
  const tables = tablesOf(rules, words);
  if (tables.length === 0) return unchanged;
  const content = { tables, words, owners: ownersOf(words, blocks) };
  for (const isKept of [isWhole, hasOwnLetters]) {
    const markdown = spliced(blocks, content, isKept);
    if (hasSameLetters(markdown, page, words)) return { markdown, tables };
  }
  return unchanged;
}

function tablesOf(rules: Rules | undefined, words: readonly Word[]): Table[] {
  const ruled = rules ? ruledTables(rules, words) : [];
  const taken = new Set(ruled.flatMap((table) => table.words));
  const others = words.filter((word) => word.turn === 0 && !taken.has(word));
  const aligned = alignedRegions(fragmentLines(others)).map((region) => ({
    rows: tableRows(region),
    words: region.lines.flatMap((line) => line.fragments.flatMap((each) => each.words)),
  }));
  return [...ruled, ...aligned].map(({ rows, words: own }) => ({
    markdown: toTable(rows.map((row) => row.map(withoutLeader))),
    columns: rows[0]?.length ?? 0,
    left: own.reduce((left, word) => Math.min(left, word.left), Number.POSITIVE_INFINITY),
    words: own,
  }));
}

const leaderDotsMin = 3;

/** Without leader dots. */
function withoutLeader(cell: string): string {
  let end = cell.length;
  let dots = 0;
  while (cell[end - 1] === '.' || cell[end - 1] === ' ') {
    end -= 1;
    if (cell[end] === '.') dots += 1;
  }
  return dots >= leaderDotsMin ? cell.slice(0, end) : cell;
}

interface Content {
  readonly tables: readonly Table[];
  readonly words: readonly Word[];
  readonly owners: ReadonlyMap<Word, number | undefined>;
}

/** A block with its words, some of which may be in a table. */
interface Owned {
  readonly block: LayoutBlock;
  readonly words: readonly Word[];
  readonly isTouched: boolean;
}

function isWhole({ isTouched }: Owned): boolean {
  return !isTouched;
}

/** The library may assign words of one block to another. */
function hasOwnLetters({ block, words, isTouched }: Owned): boolean {
  if (isTouched) return false;
  return sortedLetters(blockMarkdown(block)) === sortedLetters(textOf(words));
}

function spliced(
  blocks: readonly LayoutBlock[],
  { tables, words, owners }: Content,
  isKept: (owned: Owned) => boolean,
): string {
  const taken = new Set(tables.flatMap((table) => table.words));
  const touched = new Set([...taken].map((word) => owners.get(word)));
  const rest = blocks.map((): Word[] => []);
  for (const word of words) if (!taken.has(word)) rest[owners.get(word) ?? -1]?.push(word);
  const placed = [...blocks, undefined].map((): Table[] => []);
  for (const table of tables) placed[firstOwner(table, owners) ?? blocks.length]?.push(table);
  const parts = [...placed.keys()].flatMap((at) => {
    const [block, own = []] = [blocks[at], rest[at]];
    const kept = block && isKept({ block, words: own, isTouched: touched.has(at) });
    const isBorder = block?.kind === 'rule' && tables.some((table) => isRuleOf(table, block));
    const text = isBorder ? '' : kept ? blockMarkdown(block) : linesText(own);
    const found = (placed[at] ?? []).map(({ markdown }) => ({ text: markdown, isItem: false }));
    return [{ text, isItem: kept === true && block?.kind === 'list_item' }, ...found];
  });
  return joinBlocks(parts);
}

/** In points, between the words of a table and the rules around it. */
const borderMax = 20;

function isRuleOf({ words }: Table, { bbox }: LayoutBlock): boolean {
  if (!bbox) return false;
  const { x, y, width } = bbox;
  return words.some(
    ({ left, right, top, bottom }) =>
      x < right && x + width > left && y > top - borderMax && y < bottom + borderMax,
  );
}

function ownersOf(
  words: readonly Word[],
  blocks: readonly LayoutBlock[],
): Map<Word, number | undefined> {
  return new Map(words.map((word) => [word, ownerOf(word, blocks)]));
}

/** In points: the library's boxes are tight around the letters, and marks may protrude. */
const outsideMax = 12;

/** The smallest block around the middle of a word, or the nearest one. */
function ownerOf(word: Word, blocks: readonly LayoutBlock[]): number | undefined {
  const [x, y] = [(word.left + word.right) / 2, (word.top + word.bottom) / 2];
  let owner: number | undefined;
  let least = { distance: outsideMax, area: Number.POSITIVE_INFINITY };
  for (const [at, { bbox, kind }] of blocks.entries()) {
    if (!bbox || kind === 'rule' || kind === 'figure') continue;
    const across = Math.max(bbox.x - x, x - bbox.x - bbox.width, 0);
    const down = Math.max(bbox.y - y, y - bbox.y - bbox.height, 0);
    const found = { distance: across + down, area: bbox.width * bbox.height };
    const isSmaller = found.distance === least.distance && found.area < least.area;
    if (found.distance < least.distance || isSmaller) [owner, least] = [at, found];
  }
  return owner;
}

function firstOwner(
  { words }: Table,
  owners: ReadonlyMap<Word, number | undefined>,
): number | undefined {
  return words.reduce<number | undefined>((first, word) => {
    const owner = owners.get(word);
    return owner === undefined || (first !== undefined && first < owner) ? first : owner;
  }, undefined);
}

function linesText(words: readonly Word[]): string {
  return fragmentLines(words)
    .map(({ fragments }) => fragments.map((each) => textOf(each.words)).join(' '))
    .join('\n');
}

/**
 * As many of each letter as the library has, and no more than are on the page. Letters are counted
 * because words may be joined or split differently.
 */
function hasSameLetters(markdown: string, page: ParsedPage, words: readonly Word[]): boolean {
  const after = countLetters(markdown);
  const before = countLetters(page.markdown);
  const there = countLetters(words.map(({ text }) => text).join(' '));
  for (let code = 0; code < after.length; code += 1) {
    const count = after[code] as number;
    const own = there[code] as number;
    if (count === own) continue;
    const known = before[code] as number;
    if (count < Math.min(own, known) || count > Math.max(own, known)) return false;
  }
  return true;
}

/** Some letters share a counter: a loss of one is not made up by another. */
const letterCounts = 4096;

/** Counts the letters and digits of a text. */
function countLetters(text: string): Uint32Array {
  const counts = new Uint32Array(letterCounts);
  const letters = lettersOf(text);
  for (let at = 0; at < letters.length; at += 1) {
    const code = letters.charCodeAt(at) % letterCounts;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

function sortedLetters(text: string): string {
  return lettersOf(text).split('').sort().join('');
}

function lettersOf(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');
}
