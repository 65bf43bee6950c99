/**
 * Tables with rules: the cells that horizontal and vertical lines enclose. Lines that touch form a
 * grid; cells without a line between them are one.
 */
import type { ParsedPage } from '@llamaindex/liteparse';
import { limits } from '../../../../kernel/limits/limits.ts';
import { isFigure } from './aligned.ts';
import { fragmentLines, textOf, type Word } from './fragments.ts';

/** A horizontal line at `at`, from `from` to `to`; likewise for a vertical one. */
interface Rule {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface Rules {
  readonly across: Rule[];
  readonly down: Rule[];
}

export interface RuledTable {
  readonly rows: string[][];
  readonly words: readonly Word[];
}

/** In points: closer lines are one. */
const snap = 3.5;

export function ruledTables(rules: Rules, words: readonly Word[]): RuledTable[] {
  return gridsOf(rules).flatMap((grid) => tableOf(grid, words) ?? []);
}

/** The rules of a page, if they can enclose cells and are not too many. */
export function rulesOf({ vectorGraphics }: ParsedPage): Rules | undefined {
  const across: Rule[] = [];
  const down: Rule[] = [];
  for (const { x1, y1, x2, y2 } of vectorGraphics?.lines ?? []) {
    const [wide, high] = [Math.abs(x1 - x2), Math.abs(y1 - y2)];
    if (wide > snap && high < 1)
      across.push({ at: y1, from: Math.min(x1, x2), to: Math.max(x1, x2) });
    if (high > snap && wide < 1)
      down.push({ at: x1, from: Math.min(y1, y2), to: Math.max(y1, y2) });
  }
  if (across.length < 2 || down.length === 0) return undefined;
  return across.length + down.length > limits.parse.pdfRulesMax ? undefined : { across, down };
}

/** Groups of rules that touch. The number of rules is bounded, and so is this. */
function gridsOf({ across, down }: Rules): Rules[] {
  const parents = [...Array(across.length + down.length).keys()];
  const rootOf = (at: number): number => {
    let root = at;
    while (parents[root] !== root)
      root = parents[root] = parents[parents[root] as number] as number;
    return root;
  };
  for (let a = 0; a < across.length; a += 1) {
    const one = across[a] as Rule;
    for (let d = 0; d < down.length; d += 1) {
      if (touches(one, down[d] as Rule)) parents[rootOf(a)] = rootOf(across.length + d);
    }
  }
  const grids = new Map<number, Rules>();
  const gridAt = (at: number) => {
    const grid = grids.get(rootOf(at)) ?? { across: [], down: [] };
    grids.set(rootOf(at), grid);
    return grid;
  };
  for (const [at, rule] of across.entries()) gridAt(at).across.push(rule);
  for (const [at, rule] of down.entries()) gridAt(across.length + at).down.push(rule);
  return [...grids.values()].filter((grid) => grid.across.length >= 2 && grid.down.length >= 1);
}

function touches(across: Rule, down: Rule): boolean {
  return (
    down.at > across.from - snap &&
    down.at < across.to + snap &&
    across.at > down.from - snap &&
    across.at < down.to + snap
  );
}

/**
 * The positions of the rules, and the ends of those that cross them: the outer frame may be
 * missing.
 */
function placesOf(rules: readonly Rule[], crossing: readonly Rule[], apart: number): number[] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { from, to } of crossing) [first, last] = [Math.min(first, from), Math.max(last, to)];
  const groups: { low: number; high: number }[] = [];
  const all = [...rules.map(({ at }) => at), first, last].sort((one, other) => one - other);
  for (const place of all) {
    const group = groups.at(-1);
    if (group && place - group.high <= apart) group.high = place;
    else groups.push({ low: place, high: place });
  }
  return groups.map(({ low, high }) => (low + high) / 2);
}

/** In points. A cell shade may end where its padding begins. */
const ruleWidthMax = { across: snap, down: 7 };

const wanted = { rowsMin: 2, columnsMin: 2, cellsMax: 20_000, filledShare: 0.35, cellsMin: 4 };

function tableOf(grid: Rules, words: readonly Word[]): RuledTable | undefined {
  const xs = placesOf(grid.down, grid.across, ruleWidthMax.down);
  const ys = placesOf(grid.across, grid.down, ruleWidthMax.across);
  const size = { rows: ys.length - 1, columns: xs.length - 1 };
  if (size.rows < wanted.rowsMin || size.columns < wanted.columnsMin) return undefined;
  if (size.rows * size.columns > wanted.cellsMax) return undefined;
  const inside = words.filter((word) => {
    const { x, y } = middleOf(word);
    return x > (xs[0] ?? 0) && x < (xs.at(-1) ?? 0) && y > (ys[0] ?? 0) && y < (ys.at(-1) ?? 0);
  });
  const owners = cellOwners(grid, { xs, ys });
  const ownerOf = (word: Word) => {
    const { x, y } = middleOf(word);
    return owners[indexOf(ys, y) * size.columns + indexOf(xs, x)] ?? 0;
  };
  const cells: Word[][] = owners.map(() => []);
  for (const word of inside) cells[ownerOf(word)]?.push(word);
  const lines = cells.map(cellLines);
  const texts = lines.map((each) => textOf(each.flat()));
  const rows = Array.from({ length: size.rows }, (_, row) =>
    texts.slice(row * size.columns, (row + 1) * size.columns),
  );
  const isSound =
    isTable(rows, owners) && areCells(lines, size.columns) && !cutsText(inside, ownerOf);
  return isSound ? { rows: compact(rows, { xs, ys, owners }), words: inside } : undefined;
}

/** The share of cells with figures of several columns. Gaps are in line heights. */
const sideBySide = { gapMin: 1, cellsShare: 0.1, stackMin: 3 };

/**
 * Whether the rules separate all columns and rows. They do not if cells have several figures side
 * by side, or if several cells of one row are stacks of figures.
 */
function areCells(cells: readonly (readonly (readonly Word[])[])[], columns: number): boolean {
  const filled = cells.filter((lines) => lines.length > 0);
  const divided = filled.filter((lines) => lines.some(hasFigures)).length;
  if (divided > sideBySide.cellsShare * filled.length) return false;
  const stacks = new Map<number, number>();
  for (const [at, lines] of cells.entries()) {
    const row = Math.floor(at / columns);
    const isStack =
      lines.length >= sideBySide.stackMin && lines.every((line) => isFigure(textOf(line)));
    if (isStack) stacks.set(row, (stacks.get(row) ?? 0) + 1);
  }
  return [...stacks.values()].every((count) => count < 2);
}

function hasFigures(line: readonly Word[]): boolean {
  const apart = line.filter((word, at) => {
    const before = line[at - 1];
    return !before || word.left - before.right > sideBySide.gapMin * (word.bottom - word.top);
  });
  return apart.filter(({ text }) => isFigure(text)).length >= 2;
}

/** The share of text lines that a rule would split between two words of a phrase. */
const cutsShare = 0.1;

function cutsText(words: readonly Word[], ownerOf: (word: Word) => number): boolean {
  const lines = fragmentLines(words.filter(({ turn }) => turn === 0));
  const cut = lines.filter((line) => line.fragments.some(({ words: all }) => isCut(all, ownerOf)));
  return cut.length > cutsShare * lines.length;
}

function isCut(words: readonly Word[], ownerOf: (word: Word) => number): boolean {
  return words.some((word, at) => {
    const before = words[at - 1];
    const isNear = before && word.left - before.right < cutGap * (word.bottom - word.top);
    return isNear && ownerOf(before) !== ownerOf(word);
  });
}

const cutGap = 0.4;

function middleOf({ left, right, top, bottom }: Word): { x: number; y: number } {
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** The index of the last position that is not after the value. */
function indexOf(places: readonly number[], value: number): number {
  let [low, high] = [0, places.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((places[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Places {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

/** For each cell, the first of the cells merged with it. */
function cellOwners(grid: Rules, { xs, ys }: Places): number[] {
  const columns = xs.length - 1;
  const right = coverOf(grid.down, xs, ys);
  const below = coverOf(grid.across, ys, xs);
  const owners: number[] = [];
  for (let row = 0; row < ys.length - 1; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      const isOpenLeft = column > 0 && !right.has(column * (ys.length - 1) + row);
      const isOpenAbove = row > 0 && !below.has(row * columns + column);
      if (isOpenAbove) owners.push(owners[at - columns] as number);
      else if (isOpenLeft) owners.push(owners[at - 1] as number);
      else owners.push(at);
    }
  }
  return owners;
}

/** Which intervals between positions a rule covers, for each rule position. */
function coverOf(rules: readonly Rule[], at: readonly number[], between: readonly number[]) {
  const covered = new Set<number>();
  for (const rule of rules) {
    const place = nearest(at, rule.at);
    for (let index = indexOf(between, rule.from + snap); index < between.length - 1; index += 1) {
      const [low, high] = [between[index] as number, between[index + 1] as number];
      if (low > rule.to) break;
      const shared = Math.min(high, rule.to) - Math.max(low, rule.from);
      if (shared > (high - low) / 2) covered.add(place * (between.length - 1) + index);
    }
  }
  return covered;
}

function nearest(places: readonly number[], value: number): number {
  const at = indexOf(places, value);
  const [low, high] = [places[at] as number, places[at + 1] as number];
  return Math.abs(high - value) < Math.abs(value - low) ? at + 1 : at;
}

/** The lines of a cell, in reading order. */
function cellLines(words: readonly Word[]): Word[][] {
  const lines: Word[][] = [];
  for (const word of words.map(turnedBack).sort((one, other) => one.top - other.top)) {
    const first = lines.at(-1)?.[0];
    if (first && (word.top + word.bottom) / 2 < first.bottom) lines.at(-1)?.push(word);
    else lines.push([word]);
  }
  return lines.map((line) => line.sort((one, other) => one.left - other.left));
}

/** A word with its position among words of the same rotation, as if they were upright. */
function turnedBack(word: Word): Word {
  const { left, right, top, bottom, turn } = word;
  switch (turn) {
    case 90:
      return { ...word, left: top, right: bottom, top: -right, bottom: -left };
    case 180:
      return { ...word, left: -right, right: -left, top: -bottom, bottom: -top };
    case 270:
      return { ...word, left: -bottom, right: -top, top: left, bottom: right };
    default:
      return word;
  }
}

function isTable(rows: readonly (readonly string[])[], owners: readonly number[]): boolean {
  const own = new Set(owners).size;
  const filled = rows.flat().filter((cell) => cell !== '').length;
  const filledRows = rows.filter((row) => row.filter((cell) => cell !== '').length >= 2).length;
  return (
    filled >= wanted.cellsMin && filled >= wanted.filledShare * own && filledRows >= wanted.rowsMin
  );
}

/** In points: a narrower empty space is between two lines of one border. */
const borderMax = 10;

/**
 * Without columns and rows that are empty and either a border or mostly merged with their
 * neighbour.
 */
function compact(
  rows: readonly (readonly string[])[],
  { xs, ys, owners }: Places & { readonly owners: readonly number[] },
): string[][] {
  const width = xs.length - 1;
  const columns = [...(rows[0] ?? []).keys()].filter((column) => {
    if (rows.some((row) => row[column] !== '')) return true;
    const own = rows.filter((_, row) => owners[row * width + column] === row * width + column);
    return !isBorder(xs, column) && own.length > rows.length / 2;
  });
  return rows
    .filter((row, at) => !isBorder(ys, at) || row.some((cell) => cell !== ''))
    .map((row) => columns.map((at) => row[at] ?? ''));
}

function isBorder(places: readonly number[], at: number): boolean {
  return (places[at + 1] ?? 0) - (places[at] ?? 0) < borderMax;
}
