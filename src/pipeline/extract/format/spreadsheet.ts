/** XLSX and ODS: each sheet a heading and a table. Formulas are what they last came to. */
import { readOds } from 'hucre/ods';
import { type CellValue, readXlsx } from 'hucre/xlsx';
import { limits } from '../../../kernel/limits.ts';
import type { Parsed, Parser } from '../parsed.ts';
import { refuseEncrypted } from './opendocument.ts';
import { checkedParts, propertiesOf, xmlPart } from './parts.ts';
import { beyond, guarded } from './refuse.ts';
import { toTable } from './table.ts';
import { openZip, type Zip } from './zip.ts';

interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly CellValue[])[];
}

/** A cell takes two or three elements. */
const elementsMax = 4 * limits.parse.cellsMax;

export const parseXlsx: Parser = async ({ bytes, source }, signal) => {
  const zip = openZip(bytes);
  const parts = checkedParts(zip, elementsMax);
  signal.throwIfAborted();
  const { sheets } = await guarded(source, () => bounded(readXlsx(parts)));
  return { ...render(sheets, signal), ...described(zip, 'docProps/core.xml') };
};

export const parseOds: Parser = async ({ bytes, source }, signal) => {
  const zip = openZip(bytes);
  refuseEncrypted(zip, source);
  const parts = checkedParts(zip, elementsMax);
  signal.throwIfAborted();
  const { sheets } = await guarded(source, () => bounded(readOds(parts)));
  return { ...render(sheets, signal), ...described(zip, 'meta.xml') };
};

/** Two cells in far corners span more than a machine holds; the library refuses that by words. */
async function bounded<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (!/\bcells\), over the \d+ limit/.test(String(error))) throw error;
    throw beyond('cells', 'a sheet of the workbook spans too many cells');
  }
}

function described(zip: Zip, part: string): Pick<Parsed, 'title' | 'language' | 'meta'> {
  return propertiesOf(xmlPart(zip, part));
}

function render(sheets: readonly Sheet[], signal: AbortSignal): Pick<Parsed, 'markdown'> {
  let cells = 0;
  const sections = sheets.map(({ name, rows }) => {
    signal.throwIfAborted();
    for (const row of rows) cells += row.length;
    if (cells > limits.parse.cellsMax) throw beyond('cells', 'the workbook has too many cells');
    const table = toTable(rows.map((row) => row.map(toText)));
    return table === '' ? '' : `## ${name.replace(/\s+/g, ' ')}\n\n${table}`;
  });
  return { markdown: sections.filter((section) => section !== '').join('\n\n') };
}

function toText(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) {
    return Number.isNaN(value.getTime())
      ? ''
      : value
          .toISOString()
          .replace(/T00:00:00\.000Z$|\.000Z$/, '')
          .replace('T', ' ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
