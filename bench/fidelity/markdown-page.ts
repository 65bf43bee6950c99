/** The Markdown of an extractor, for the meter: words without addresses and marks. */
import { type Readable, rowOf, wordsOf } from './meter.ts';

export function readMarkdownPage(markdown: string, title: string | undefined): Readable {
  const lines: string[] = [];
  const headings: string[] = [];
  const rows: string[] = [];
  let fence: string | undefined;
  let isQuoted = false;
  for (const source of markdown.split('\n')) {
    // Unquoted code may have lines that begin like a quote.
    if (fence === undefined) isQuoted = source.startsWith('>');
    const raw = isQuoted ? source.replace(/^(?:> ?)+/, '') : source;
    const [, marker] = /^ {0,3}(`{3,}|~{3,})/.exec(raw) ?? [];
    if (fence === undefined && marker !== undefined) fence = marker;
    else if (fence !== undefined && marker?.startsWith(fence)) fence = undefined;
    const line = fence === undefined ? plain(raw) : raw;
    lines.push(line);
    if (fence !== undefined) continue;
    const [, heading] = /^#{1,6}\s+(.*)$/.exec(line) ?? [];
    if (heading !== undefined) headings.push(wordsOf(heading).join(' '));
    const isRow = line.startsWith('|') && line.trimEnd().endsWith('|');
    if (isRow && !/^[|\s:-]+$/.test(line)) rows.push(rowOf(cellsOf(line)));
  }
  const words = wordsOf(lines.join('\n'));
  return { words, headings, rows, title: wordsOf(title ?? '').join(' ') };
}

/**
 * Without addresses, and without marks that may be within a word. Numbers of list items are removed
 * too: in HTML the browser adds them.
 */
function plain(line: string): string {
  return line
    .replace(/\]\([^()\s]{0,2000}\)/g, ']')
    .replace(/\*\*|`/g, '')
    .replace(/^ {0,30}\d{1,9}[.)] /, '');
}

function cellsOf(row: string): string[] {
  return row.split(/(?<!\\)\|/).map((cell) => cell.replace(/<br ?\/?>/g, ' '));
}
