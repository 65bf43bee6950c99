/** Values separated by comma, tab or others, as one Markdown table. Cells are unchanged. */
import papaparse from 'papaparse';
import { limits } from '../../../../kernel/limits/limits.ts';
import type { Parser } from '../../parsed.ts';
import { beyond } from '../refuse.ts';
import { toTable } from '../table.ts';
import { decodeText } from './decode-text.ts';
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

/**
 * An unclosed quote makes the rest one record. And at the end of each quoted cell the library
 * searches for the line end: records of very many such cells would take it for ever.
 */
function checkQuotes(text: string): void {
  const { columnsMax, recordCharactersMax } = limits.parse;
  let quoted = 0;
  let recordStart = 0;
  for (let from = 0; ; ) {
    const open = text.indexOf('"', from);
    const between = text.slice(from, open < 0 ? undefined : open);
    const lineEnd = between.search(/[\r\n]/);
    // Each quote inside may be doubled.
    if (from + (lineEnd < 0 ? between.length : lineEnd) - recordStart > 2 * recordCharactersMax) {
      if (quoted > 0) throw beyond('record', 'a row with quoted cells is too long');
    }
    if (lineEnd >= 0) {
      quoted = 0;
      recordStart = from + Math.max(between.lastIndexOf('\n'), between.lastIndexOf('\r')) + 1;
    }
    if (open < 0) return;
    // Inside a quoted cell, a quote after a separator ends one part and starts none.
    if (open === 0 || /[,;\t|\r\n]/.test(text[open - 1] as string)) quoted += 1;
    if (quoted > columnsMax) throw beyond('columns', `a row has more than ${columnsMax} columns`);
    const close = text.indexOf('"', open + 1);
    if ((close < 0 ? text.length : close) - open > recordCharactersMax) {
      throw beyond('record', 'a quoted cell of the table never ends');
    }
    if (close < 0) return;
    from = close + 1;
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
