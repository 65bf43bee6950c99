/**
 * Groups the lines of a table into rows with wrapped cells. Wider spaces between rows than within
 * them show it; otherwise a line without a first cell, figures or new columns continues the row
 * above it. Every word ends up in a cell.
 */
import { type Column, columnsOf, isFigure, type Region } from './aligned.ts';
import { type FragmentLine, textOf, type Word } from './fragments.ts';

/** The words of each cell of a line; `spans` if one of them covers several columns. */
interface Row {
  readonly cells: readonly (readonly Word[])[];
  readonly spans: boolean;
  readonly top: number;
  readonly bottom: number;
}

export function tableRows({ lines, columns }: Region): string[][] {
  const rows = lines.map((line) => rowOf(line, columns));
  const groups = groupsBySpace(rows) ?? groupsByCells(rows);
  return groups.map((group) =>
    columns.map((_, at) => textOf(group.flatMap((row) => row.cells[at] ?? []))),
  );
}

function rowOf({ fragments, top, bottom }: FragmentLine, columns: readonly Column[]): Row {
  const cells: Word[][] = columns.map(() => []);
  let spans = false;
  for (const fragment of fragments) {
    const touched = columnsOf(columns, fragment);
    if (touched.length > 1) spans = true;
    for (const word of fragment.words) cells[touched[0] ?? 0]?.push(word);
  }
  return { cells, spans, top, bottom };
}

/** How much wider the space between rows is than between lines of one row. */
const rowPitch = 1.25;

function groupsBySpace(rows: readonly Row[]): Row[][] | undefined {
  const pitches = rows.slice(1).map((row, at) => row.top - (rows[at]?.top ?? 0));
  const least = pitches.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const groups: Row[][] = [];
  for (const [at, row] of rows.entries()) {
    const isWide = at === 0 || (pitches[at - 1] ?? 0) > rowPitch * least;
    if (isWide) groups.push([row]);
    else groups.at(-1)?.push(row);
  }
  const isDivided = groups.length > 2 && groups.length < rows.length;
  return isDivided && groups.every(isOneRow) ? groups : undefined;
}

/** Whether lines can be one row: none spans columns, none is a label, and no figure is wrapped. */
function isOneRow(group: readonly Row[]): boolean {
  const [first, ...others] = group;
  if (!first || others.length === 0) return true;
  if (group.some(({ spans }) => spans)) return false;
  if (first.cells.some(isFigureCell) && others.some(isLabel)) return false;
  return [...first.cells.keys()].every((at) => {
    const filled = group.filter((row) => (row.cells[at]?.length ?? 0) > 0);
    return filled.length < 2 || !filled.some((row) => isFigureCell(row.cells[at]));
  });
}

/** A line with only a first cell that does not start with a lower-case letter. */
function isLabel({ cells }: Row): boolean {
  const filled = cells.filter((words) => words.length > 0);
  return filled.length === 1 && filled[0] === cells[0] && !/^\p{Ll}/u.test(textOf(cells[0] ?? []));
}

function isFigureCell(words: readonly Word[] | undefined): boolean {
  return words !== undefined && words.length > 0 && isFigure(textOf(words));
}

function groupsByCells(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  const header = headerEnd(rows);
  for (const [at, row] of rows.entries()) {
    const group = groups.at(-1);
    const isJoined =
      at < header ? at > 0 : group !== undefined && at > header && continues(row, group);
    if (group && isJoined) group.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** The first lines, up to the first with figures, if none of them spans columns. */
function headerEnd(rows: readonly Row[]): number {
  const first = rows.findIndex((row) => row.cells.some(isFigureCell));
  const head = rows.slice(0, Math.max(first, 0));
  return head.length <= headerLinesMax && head.every(({ spans }) => !spans) ? head.length : 0;
}

const headerLinesMax = 4;

function continues(row: Row, group: readonly Row[]): boolean {
  const filled = [...row.cells.keys()].filter((at) => (row.cells[at]?.length ?? 0) > 0);
  if (row.spans || filled.some((at) => isFigureCell(row.cells[at]))) return false;
  if (!filled.every((at) => group.some(({ cells }) => (cells[at]?.length ?? 0) > 0))) return false;
  const [only, ...others] = filled;
  if (only !== 0) return true;
  return others.length === 0 && /^\p{Ll}/u.test(textOf(row.cells[0] ?? []));
}
