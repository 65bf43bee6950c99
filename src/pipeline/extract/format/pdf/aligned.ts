/**
 * Tables without rules: adjacent lines whose fragments are in the same columns. From the line with
 * the most fragments, a region grows down and up as long as lines keep the gaps between its columns
 * free. Prose in columns does that too, and is distinguished by how it fills its columns.
 */
import { type Fragment, type FragmentLine, textOf } from './fragments.ts';

export interface Column {
  readonly left: number;
  readonly right: number;
}

export interface Region {
  readonly lines: readonly FragmentLine[];
  readonly columns: readonly Column[];
}

/** Lengths are in line heights; `acrossShare` is a share of the region's width. */
const growth = { gapMin: 0.45, lineGapMax: 2.2, tightGapMax: 0.6, acrossShare: 0.6 };
/** Lines between two rows, and columns of a table. */
const bounds = { pendingMax: 8, columnsMax: 64 };

export function alignedRegions(lines: readonly FragmentLine[]): Region[] {
  const used = new Set<number>();
  const seeds = [...lines.keys()]
    .filter((at) => countAt(lines, at) >= 2 && countAt(lines, at) <= bounds.columnsMax)
    .sort((one, other) => countAt(lines, other) - countAt(lines, one) || one - other);
  const regions: Region[] = [];
  for (const seed of seeds) {
    if (used.has(seed)) continue;
    const { from, to, columns } = settle(lines, seed, used);
    for (let at = from; at <= to; at += 1) used.add(at);
    const region = asTable({ lines: lines.slice(from, to + 1), columns });
    if (region) regions.push(region);
  }
  return regions;
}

function countAt(lines: readonly FragmentLine[], at: number): number {
  return lines[at]?.fragments.length ?? 0;
}

/** How often columns may be merged and the region grown again. */
const settlings = 3;

function settle(lines: readonly FragmentLine[], seed: number, used: ReadonlySet<number>): Grown {
  let grown = growFrom(lines, { seed, used });
  for (let turn = 0; turn < settlings; turn += 1) {
    const columns = withoutBridged(lines.slice(grown.from, grown.to + 1), grown.columns);
    if (columns.length === grown.columns.length || columns.length < 2) break;
    grown = growFrom(lines, { seed, used, columns });
  }
  return grown;
}

/**
 * Merges columns that more lines treat as one than as two, and adjacent columns of which no line
 * has both: a heading may be next to the cells below it.
 */
function withoutBridged(lines: readonly FragmentLine[], columns: readonly Column[]): Column[] {
  const bridged = columns.map(() => 0);
  const both = columns.map(() => 0);
  for (const { fragments } of lines) {
    const filled = new Set<number>();
    for (const fragment of fragments) {
      const [first = 0, ...others] = columnsOf(columns, fragment);
      for (const at of others) bridged[at] = (bridged[at] ?? 0) + 1;
      if (others.length === 0) filled.add(first);
    }
    for (const at of filled) if (filled.has(at - 1)) both[at] = (both[at] ?? 0) + 1;
  }
  const isApart = (at: number) => (both[at] ?? 0) > 0 && (both[at] ?? 0) >= (bridged[at] ?? 0);
  const merged: Column[] = [];
  let wasMerged = false;
  for (const [at, column] of columns.entries()) {
    const last = merged.at(-1);
    const isNearer =
      !columns[at + 1] || isApart(at + 1) || spaceAt(columns, at) <= spaceAt(columns, at + 1);
    if (last && !wasMerged && !isApart(at) && isNearer) {
      merged[merged.length - 1] = { ...last, right: column.right };
      wasMerged = true;
    } else {
      merged.push(column);
      wasMerged = false;
    }
  }
  return merged;
}

function spaceAt(columns: readonly Column[], at: number): number {
  return (columns[at]?.left ?? 0) - (columns[at - 1]?.right ?? 0);
}

interface Grown {
  readonly from: number;
  readonly to: number;
  readonly columns: readonly Column[];
}

interface Seed {
  readonly seed: number;
  readonly used: ReadonlySet<number>;
  readonly columns?: readonly Column[];
}

function growFrom(lines: readonly FragmentLine[], { seed, used, ...given }: Seed): Grown {
  let columns = given.columns ?? (lines[seed] as FragmentLine).fragments;
  const ends = { down: seed, up: seed };
  for (const way of ['down', 'up'] as const) {
    const step = way === 'down' ? 1 : -1;
    for (let at = seed + step; Math.abs(at - ends[way]) <= bounds.pendingMax; at += step) {
      const [line, before] = [lines[at], lines[at - step]];
      if (!line || !before || used.has(at) || gapOf(line, before) > growth.lineGapMax) break;
      const grown = withLine(columns, line);
      if (!grown && isAcross(columns, line)) break;
      if (!grown || line.fragments.length < 2) continue;
      columns = grown;
      ends[way] = at;
    }
  }
  return {
    from: wrappedEnd(lines, { at: ends.up, step: -1, columns, used }),
    to: wrappedEnd(lines, { at: ends.down, step: 1, columns, used }),
    columns,
  };
}

/** The space between two lines, in heights of the lower one. */
function gapOf(one: FragmentLine, other: FragmentLine): number {
  const height = Math.min(one.bottom - one.top, other.bottom - other.top);
  return (Math.max(one.top, other.top) - Math.min(one.bottom, other.bottom)) / height;
}

/**
 * The columns including those of one more line; undefined if the line fills a gap between columns.
 */
function withLine(columns: readonly Column[], line: FragmentLine): Column[] | undefined {
  const gapMin = growth.gapMin * (line.bottom - line.top);
  const merged: { left: number; right: number }[] = [];
  const { fragments } = line;
  for (let [one, other] = [0, 0]; one < columns.length || other < fragments.length; ) {
    const [column, fragment] = [columns[one], fragments[other]];
    const isColumn = column && (!fragment || column.left <= fragment.left);
    const { left, right } = (isColumn ? column : fragment) as Column;
    if (isColumn) one += 1;
    else other += 1;
    const last = merged.at(-1);
    if (last && left - last.right < gapMin) last.right = Math.max(last.right, right);
    else merged.push({ left, right });
  }
  const isKept = merged.length >= columns.length && merged.length <= bounds.columnsMax;
  return isKept ? merged : undefined;
}

/** Whether a fragment covers most of the columns, as a line of prose does. */
function isAcross(columns: readonly Column[], { fragments }: FragmentLine): boolean {
  const width = (columns.at(-1)?.right ?? 0) - (columns[0]?.left ?? 0);
  return fragments.some(({ left, right }) => right - left > growth.acrossShare * width);
}

interface Wrapped {
  readonly at: number;
  readonly step: 1 | -1;
  readonly columns: readonly Column[];
  readonly used: ReadonlySet<number>;
}

/** Includes the lines of a wrapped cell at the end, which are in a column other than the first. */
function wrappedEnd(lines: readonly FragmentLine[], { at, step, columns, used }: Wrapped): number {
  let end = at;
  for (let next = at + step; !used.has(next); next += step) {
    const [line, before] = [lines[next], lines[next - step]];
    if (!line || !before || gapOf(line, before) > growth.tightGapMax) break;
    const [first, ...others] = line.fragments;
    if (!first || others.length > 0 || columnsOf(columns, first).length !== 1) break;
    if (columnsOf(columns, first)[0] === 0) break;
    end = next;
  }
  return end;
}

/** The columns that a fragment touches, or else the nearest one. */
export function columnsOf(columns: readonly Column[], { left, right }: Column): number[] {
  const touched: number[] = [];
  let nearest = { at: 0, distance: Number.POSITIVE_INFINITY };
  for (let at = 0; at < columns.length; at += 1) {
    const column = columns[at] as Column;
    const distance = Math.max(column.left - right, left - column.right);
    if (distance < 0) touched.push(at);
    else if (distance < nearest.distance) nearest = { at, distance };
    if (column.left > right) break;
  }
  return touched.length > 0 ? touched : [nearest.at];
}

/** The minimum number of lines with several fragments in a table. */
export const rowsMin = 3;
/** Criteria for a table. Two columns are a table only if one of them has figures. */
const wanted = { pairRowsMin: 4, figuresShare: 0.7, filledShare: 0.3 };

function asTable(region: Region): Region | undefined {
  const inner = withoutProse(withoutMarkers(region));
  const { lines, columns } = inner;
  const cells = cellsOf(inner);
  const rows = lines.filter(({ fragments }) => fragments.length >= 2).length;
  const filled = cells.reduce((sum, column) => sum + column.length, 0);
  if (columns.length < 2 || rows < (columns.length > 2 ? rowsMin : wanted.pairRowsMin)) {
    return undefined;
  }
  if (filled < wanted.filledShare * lines.length * columns.length) return undefined;
  if (cells.filter(isWordy).length >= 2) return undefined;
  const hasFigures = cells.some(
    (column) =>
      column.filter((cell) => isFigure(textOf(cell.words))).length >
      wanted.figuresShare * column.length,
  );
  return hasFigures || columns.length > 2 ? inner : undefined;
}

/** At most one column of a table contains whole phrases. */
const wordyMin = 4.5;

function isWordy(cells: readonly Fragment[]): boolean {
  return cells.reduce((sum, { words }) => sum + words.length, 0) > wordyMin * cells.length;
}

/** The fragments of each column, without those that span several. */
function cellsOf({ lines, columns }: Region): Fragment[][] {
  const cells: Fragment[][] = columns.map(() => []);
  for (const fragment of lines.flatMap(({ fragments }) => fragments)) {
    const [first = 0, ...others] = columnsOf(columns, fragment);
    if (others.length === 0) cells[first]?.push(fragment);
  }
  return cells;
}

/** A number with signs and unit, a Roman page number, or a sign for none. */
export function isFigure(text: string): boolean {
  return (
    text.length <= 24 &&
    (/^[^\p{L}]*\p{N}[^\p{L}]*\p{L}{0,2}[^\p{L}]*$/u.test(text) ||
      /^([ivxlc]+|[-–—.*]+)$/i.test(text))
  );
}

const markers = /^([•●▪■◦○‣∙–—*-]|\(?[\p{N}\p{L}]{1,3}[.)])$/u;
const markersShare = 0.8;

/** Bullets or numbers of list items are not a column. */
function withoutMarkers(region: Region): Region {
  const { lines, columns } = region;
  const [first = []] = cellsOf(region);
  const marked = first.filter(({ words }) => markers.test(textOf(words))).length;
  if (columns.length < 2 || marked < markersShare * first.length) return region;
  const [one, two, ...others] = columns as [Column, Column, ...Column[]];
  return { lines, columns: [{ left: one.left, right: two.right }, ...others] };
}

/** Prose fills the width of its column in most lines, with several words each. */
const prose = { linesMin: 4, fullShare: 0.7, fullLinesShare: 0.6, wordsMin: 4 };

/** Columns of prose next to a table stay text. */
function withoutProse(region: Region): Region {
  const cells = cellsOf(region);
  const kept = region.columns.filter((_, at) => !isProse(cells[at] ?? []));
  if (kept.length === region.columns.length) return region;
  const lines = region.lines
    .map((line) => ({
      ...line,
      fragments: line.fragments.filter((fragment) => {
        const column = region.columns[columnsOf(region.columns, fragment)[0] ?? -1];
        return column !== undefined && kept.includes(column);
      }),
    }))
    .filter(({ fragments }) => fragments.length > 0);
  const isRow = ({ fragments }: FragmentLine) => fragments.length >= 2;
  return {
    lines: lines.slice(Math.max(lines.findIndex(isRow), 0), lines.findLastIndex(isRow) + 1),
    columns: kept,
  };
}

function isProse(fragments: readonly Fragment[]): boolean {
  if (fragments.length < prose.linesMin) return false;
  const widths = fragments.map(({ left, right }) => right - left).sort((a, b) => a - b);
  const width = widths[Math.floor(0.9 * (widths.length - 1))] ?? 0;
  const full = widths.filter((each) => each > prose.fullShare * width).length;
  const words = fragments.reduce((sum, fragment) => sum + fragment.words.length, 0);
  return (
    full > prose.fullLinesShare * fragments.length && words > prose.wordsMin * fragments.length
  );
}
