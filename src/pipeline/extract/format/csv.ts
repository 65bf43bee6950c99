/** Comma, tab or otherwise separated values, as one Markdown table. Cells stay as they are. */
import papaparse from 'papaparse';
import { limits } from '../../../kernel/limits.ts';
import type { Parser } from '../parsed.ts';
import { decodeText } from './decode-text.ts';
import { beyond } from './refuse.ts';
import { toTable } from './table.ts';
import { charsetMeta } from './text.ts';

export const parseCsv: Parser = async ({ bytes, mediaType, charset: declared }, signal) => {
  const { text, charset, isGuess } = decodeText(bytes, declared);
  const separator = mediaType === 'text/tab-separated-values' ? '\t' : '';
  const rows = readRows(text, separator);
  signal.throwIfAborted();
  return {
    title: null,
    language: null,
    markdown: toTable(rows),
    meta: { ...charsetMeta(charset, isGuess), rows: rows.length },
  };
};

function readRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let cells = 0;
  checkQuotes(text);
  papaparse.parse<string[]>(text, {
    delimiter,
    skipEmptyLines: 'greedy',
    step: ({ data: row }) => {
      cells += row.length;
      checkRow(row);
      rows.push(row);
    },
  });
  if (cells > limits.parse.cellsMax * 4) {
    throw beyond('cells', `the table has ${cells} cells`);
  }
  return rows;
}

/** A quote that is never closed makes one record of the rest. */
function checkQuotes(text: string): void {
  let from = 0;
  while (from >= 0 && from < text.length) {
    const open = text.indexOf('"', from);
    if (open < 0) return;
    const close = text.indexOf('"', open + 1);
    if ((close < 0 ? text.length : close) - open > limits.parse.recordCharactersMax) {
      throw beyond('record', 'a quoted cell of the table never ends');
    }
    from = close < 0 ? -1 : close + 1;
  }
}

function checkRow(row: readonly string[]): void {
  const { columnsMax, recordCharactersMax } = limits.parse;
  if (row.length > columnsMax) throw beyond('columns', `a row has ${row.length} columns`);
  let characters = 0;
  for (const cell of row) characters += cell.length;
  if (characters > recordCharactersMax) {
    throw beyond('record', `a row has ${characters} characters`);
  }
}
