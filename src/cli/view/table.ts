/** Aligned columns. */
import type { Terminal } from './terminal.ts';
import { widthOf, wrap } from './wording.ts';

const gap = '  ';

/**
 * Prints rows under their titles; a title with `>` before it aligns its column right. A last cell
 * that is too long wraps below itself.
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
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
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
    terminal.print(line([...row.slice(0, -1), first]));
    for (const text of rest) terminal.print(`${' '.repeat(before)}${text}`);
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
