/** Rows of cells as a Markdown table with plain pipes; the first row is the header. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const width = widthOf(rows);
  if (width === 0) return '';
  const shown = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  const [head = [], ...rest] = shown.map((row) => toRow(row, width));
  return [head, `|${' --- |'.repeat(width)}`, ...rest].join('\n');
}

/** Without empty columns on the right. */
function widthOf(rows: readonly (readonly string[])[]): number {
  let width = 0;
  for (const row of rows) {
    const last = row.findLastIndex((cell) => cell.trim() !== '');
    width = Math.max(width, last + 1);
  }
  return width;
}

function toRow(row: readonly string[], width: number): string {
  const cells = Array.from({ length: width }, (_, column) => toCell(row[column] ?? ''));
  return `| ${cells.join(' | ')} |`;
}

function toCell(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
}
