/** Aligned columns. */
import { stripVTControlCharacters } from 'node:util';
import type { Terminal } from './terminal.ts';
import { cut, widthOf, wrap } from './wording.ts';

const gap = '  ';

/**
 * Prints rows under their titles; a title with `>` before it aligns its column right. A last cell
 * that is too long wraps below itself. On a terminal that is too narrow, long texts are cut, and if
 * that is not enough, each row is printed as a block.
 */
export function printTable(
  terminal: Terminal,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const columns = titles.map((each) => ({
    title: each.replace('>', ''),
    isRight: each.startsWith('>'),
  }));
  const wanted = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const widths = terminal.isShown ? fitWidths(wanted, columns, terminal.columns()) : wanted;
  if (widths === undefined) {
    printBlocks(terminal, columns, rows);
    return;
  }
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ isRight }, index) => {
        const cell = cells[index] ?? '';
        const fill = ' '.repeat(Math.max((widths[index] ?? 0) - widthOf(cell), 0));
        return isRight ? fill + cell : cell + fill;
      })
      .join(gap)
      .trimEnd();
  terminal.print(terminal.paint('dim', line(columns.map(({ title }) => title))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  for (const row of rows) {
    const [first = '', ...rest] = fit(row.at(-1) ?? '', terminal.columns() - before);
    const cells = row.slice(0, -1).map((cell, index) => cutCell(cell, widths[index] ?? 0));
    terminal.print(line([...cells, first]));
    for (const text of rest) terminal.print(`${' '.repeat(before)}${text}`);
  }
}

interface Column {
  readonly title: string;
  readonly isRight: boolean;
}

/** A text is not cut below this width. */
const cutMin = 10;

/** Narrows the widest texts until the table fits. Undefined if that does not suffice. */
function fitWidths(
  wanted: readonly number[],
  columns: readonly Column[],
  space: number,
): number[] | undefined {
  const widths = [...wanted];
  // A long last column wraps.
  const last = widths.length - 1;
  widths[last] = Math.min(widths[last] ?? 0, columnsMin);
  const total = (): number =>
    widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);
  while (total() > space) {
    const texts = widths.map((width, index) => (columns[index]?.isRight ? 0 : width));
    const widest = texts.indexOf(Math.max(...texts.slice(0, -1)));
    if ((texts[widest] ?? 0) <= cutMin) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const rest = space - total();
  widths[last] = Math.min(wanted[last] ?? 0, (widths[last] ?? 0) + rest);
  return widths;
}

/** A cut cell loses its colour. */
function cutCell(cell: string, columns: number): string {
  return widthOf(cell) <= columns ? cell : cut(stripVTControlCharacters(cell), columns);
}

function printBlocks(
  terminal: Terminal,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): void {
  for (const [index, row] of rows.entries()) {
    if (index > 0) terminal.print();
    const pairs = columns.map(({ title }, at) => [title.toLowerCase(), row[at] ?? ''] as const);
    printPairs(
      terminal,
      pairs.filter(([, cell]) => cell !== ''),
    );
  }
}

const columnsMin = 30;

/** Only plain text is wrapped: a colour code would end at the line break. */
function fit(text: string, columns: number): string[] {
  const isPlain = widthOf(text) === text.length;
  return isPlain && columns >= columnsMin ? wrap(text, columns) : [text];
}

/** Prints names on the left and their values on the right. */
export function printPairs(
  terminal: Terminal,
  pairs: readonly (readonly [name: string, value: string])[],
): void {
  const width = Math.max(...pairs.map(([name]) => name.length));
  for (const [name, value] of pairs) {
    const [first = '', ...rest] = fit(value, terminal.columns() - width - gap.length);
    terminal.print(`${terminal.paint('dim', name.padEnd(width))}${gap}${first}`);
    for (const text of rest) terminal.print(`${' '.repeat(width + gap.length)}${text}`);
  }
}
