/** XLSX and ODS: each sheet is a heading and a table. Formulas are shown as their last result. */
import { readXls, readXlsb } from 'hucre';
import { readOds } from 'hucre/ods';
import { type CellValue, readXlsx } from 'hucre/xlsx';
import { limits } from '../../../../kernel/limits/limits.ts';
import type { Parsed, Parser } from '../../parsed.ts';
import { checkedParts, propertiesOf, relationsOf, xmlPart } from '../parts.ts';
import { beyond, guarded } from '../refuse.ts';
import { toTable } from '../table.ts';
import { openZip, type Zip } from '../zip/zip.ts';
import { refuseEncrypted } from './opendocument.ts';
import { sheetNotes } from './sheet-notes.ts';

interface Sheet {
  readonly name: string;
  readonly rows: readonly (readonly CellValue[] | undefined)[];
}

/** A cell takes two or three elements. */
const elementsMax = 4 * limits.parse.cellsMax;

export const parseXlsx: Parser = async ({ bytes, source }, signal) => {
  const zip = openZip(bytes);
  const tables = worksheetIds(zip);
  const parts = checkedParts(zip, elementsMax, (name, text) =>
    name === workbookPart ? onlySheets(text, tables) : text,
  );
  signal.throwIfAborted();
  const { sheets } = await guarded(source, () => bounded(readXlsx(parts)));
  return {
    ...render(sheets, signal, sheetNotes(zip)),
    ...described(zip, 'docProps/core.xml'),
  };
};

const workbookPart = 'xl/workbook.xml';

function worksheetIds(zip: Zip): ReadonlySet<string> {
  const tables = relationsOf(zip, workbookPart).filter(({ type }) => type === 'worksheet');
  return new Set(tables.map(({ id }) => id));
}

/** Chart and macro sheets have no cells, and the library would refuse them. */
function onlySheets(workbook: string, tables: ReadonlySet<string>): string {
  return workbook.replace(/<(?:\w{1,10}:)?sheet\s[^<>]{0,2000}\/>/g, (sheet) => {
    const id = /\sr:id\s*=\s*["']([^"']{0,200})["']/.exec(sheet)?.[1];
    return id === undefined || tables.has(id) ? sheet : '';
  });
}

export const parseOds: Parser = async ({ bytes, source }, signal) => {
  const zip = openZip(bytes);
  refuseEncrypted(zip, source);
  const parts = checkedParts(zip, elementsMax);
  signal.throwIfAborted();
  const { sheets } = await guarded(source, () => bounded(readOds(parts)));
  return { ...render(sheets, signal), ...described(zip, 'meta.xml') };
};

/** Old and binary workbooks are read without their properties. */
export const parseXls: Parser = async ({ bytes, source }, signal) => {
  const { sheets } = await guarded(source, () => bounded(readXls(bytes)));
  return { ...render(sheets, signal), title: null, language: null, meta: {} };
};

export const parseXlsb: Parser = async ({ bytes, source }, signal) => {
  // The archive is checked before the library opens it.
  const zip = openZip(bytes);
  const { sheets } = await guarded(source, () => bounded(readXlsb(bytes)));
  return { ...render(sheets, signal), ...described(zip, 'docProps/core.xml') };
};

/**
 * Two distant cells span more than the memory holds; the library reports that only by its message.
 */
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

function render(
  sheets: readonly Sheet[],
  signal: AbortSignal,
  notes: ReadonlyMap<string, readonly string[]> = new Map(),
): Pick<Parsed, 'markdown'> {
  let cells = 0;
  const sections = sheets.map(({ name, rows: found }) => {
    signal.throwIfAborted();
    // In some formats, rows without cells are holes.
    const rows = Array.from(found, (row) => row ?? []);
    // A style may extend far beyond the content: only cells with content count.
    for (const row of rows) cells += row.filter((cell) => cell !== null && cell !== '').length;
    if (cells > limits.parse.cellsMax) throw beyond('cells', 'the workbook has too many cells');
    const table = toTable(rows.map((row) => row.map(toText)));
    const beside = (notes.get(name) ?? []).map((note) => `- ${note.replaceAll('\n', '\n  ')}`);
    const parts = [table, beside.join('\n')].filter((part) => part !== '');
    return parts.length === 0 ? '' : [`## ${name.replace(/\s+/g, ' ')}`, ...parts].join('\n\n');
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
