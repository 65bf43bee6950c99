/**
 * Word documents from 1997 to 2003: the text of the document, its notes, comments and text boxes,
 * by the piece table. A field is its displayed text. Styles are not read: headings are paragraphs.
 */
import { Failure } from '../../../../kernel/failure/failure.ts';
import { damaged } from '../refuse.ts';
import { toTable } from '../table.ts';
import { openOle } from './ole.ts';

const flags = { isEncrypted: 0x0100, usesTable1: 0x0200 };
const word97 = 193;

export interface DocText {
  readonly markdown: string;
  /** The number of characters that the document states. */
  readonly characters: number;
  readonly charactersMissing: number;
}

export function readDoc(bytes: Uint8Array, source: string): DocText {
  const ole = openOle(bytes);
  const main = ole.read('WordDocument');
  if (!main || main.length < 0x1aa) throw damaged(`${source} has no text stream`);
  const bits = main.readUInt16LE(10);
  if ((bits & flags.isEncrypted) !== 0) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  const version = main.readUInt16LE(2);
  if (version < word97) {
    throw new Failure(
      'unsupported_mime',
      `${source} is a Word document from before 1997: save it as DOCX and submit that`,
    );
  }
  const table = ole.read((bits & flags.usesTable1) !== 0 ? '1Table' : '0Table');
  if (!table) throw damaged(`${source} has no table stream`);
  const { text, characters } = textOf(main, pieceTable(main, table));
  const charactersMissing = Math.max(0, characters - text.length);
  return { markdown: toMarkdown(withoutFields(text)), characters, charactersMissing };
}

/** The piece table, after the formats of pieces, which are skipped. */
function pieceTable(main: Buffer, table: Buffer): Buffer {
  const clx = table.subarray(main.readUInt32LE(0x1a2)).subarray(0, main.readUInt32LE(0x1a6));
  for (let at = 0; at + 5 <= clx.length; ) {
    if (clx[at] === 2) return clx.subarray(at + 5, at + 5 + clx.readUInt32LE(at + 1));
    if (clx[at] !== 1) break;
    at += 3 + clx.readUInt16LE(at + 1);
  }
  throw damaged('the document has no table of its pieces');
}

const isCompressed = 0x40000000;

/** A piece is in UTF-16, or in Windows-1252 at half the stated offset. */
function textOf(main: Buffer, pieces: Buffer): { text: string; characters: number } {
  const count = Math.max(0, Math.floor((pieces.length - 4) / 12));
  const texts: string[] = [];
  let stated = 0;
  for (let piece = 0; piece < count; piece += 1) {
    const characters = pieces.readUInt32LE(4 * piece + 4) - pieces.readUInt32LE(4 * piece);
    const place = pieces.readUInt32LE(4 * (count + 1) + 8 * piece + 2);
    stated += Math.max(characters, 0);
    if (characters <= 0 || characters > main.length) continue;
    const isNarrow = (place & isCompressed) !== 0;
    const start = isNarrow ? (place & ~isCompressed) / 2 : place;
    const part = main.subarray(start, start + (isNarrow ? characters : 2 * characters));
    const charset = isNarrow ? 'windows-1252' : 'utf-16le';
    texts.push(new TextDecoder(charset, { ignoreBOM: true }).decode(part));
  }
  return { text: texts.join(''), characters: stated };
}

const mark = { cell: '\x07', fieldBegin: '\x13', fieldMiddle: '\x14', fieldEnd: '\x15' };

// biome-ignore lint/suspicious/noControlCharactersInRegex: marks of the format
const fieldMark = /([\x13-\x15])/;

/** The displayed part of a field such as a link. Fields can be nested. */
function withoutFields(text: string): string {
  const shown: string[] = [];
  const open: boolean[] = [];
  let hidden = 0;
  for (const part of text.split(fieldMark)) {
    if (part === mark.fieldBegin) {
      open.push(true);
      hidden += 1;
    } else if (part === mark.fieldMiddle) {
      if (open.pop()) hidden -= 1;
      open.push(false);
    } else if (part === mark.fieldEnd) {
      if (open.pop()) hidden -= 1;
    } else if (hidden <= 0) shown.push(part);
  }
  return shown.join('');
}

/** A table row ends with an empty cell. */
function toMarkdown(text: string): string {
  const blocks: string[] = [];
  let rows: string[][] = [];
  const endTable = (): void => {
    if (rows.length > 0) blocks.push(toTable(rows));
    rows = [];
  };
  for (const paragraph of text.split('\r')) {
    const cells = paragraph.split(mark.cell);
    const rest = cells.pop() ?? '';
    if (cells.length > 0) rows.push(...rowsOf(cells));
    const words = clean(rest);
    if (words === '') continue;
    if (rows.length > 0 && cells.length === 0) endTable();
    if (rows.length > 0) endTable();
    blocks.push(words);
  }
  endTable();
  return blocks.filter((block) => block !== '').join('\n\n');
}

function rowsOf(cells: readonly string[]): string[][] {
  const rows: string[][] = [[]];
  for (const cell of cells.map(clean)) {
    if (cell === '' && (rows.at(-1)?.length ?? 0) > 0) rows.push([]);
    else rows.at(-1)?.push(cell);
  }
  return rows.filter((row) => row.length > 0);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: marks of the format
const breaks = /[\x0b\x0c\x0e]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: marks of the format
const otherMarks = /[\0-\x08\x0f-\x1f]/g;

/** Marks of pictures, notes and drawings are removed; other breaks become line ends. */
function clean(text: string): string {
  return text
    .replace(breaks, '\n')
    .replaceAll('\x1e', '-')
    .replace(otherMarks, '')
    .replace(/[ \t\u00a0]+/g, ' ')
    .trim();
}
