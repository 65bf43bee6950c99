/** Excel workbooks from 1997 to 2003: finds their stream under any of its names. */
import { Failure } from '../../../../kernel/failure/failure.ts';
import type { Parser } from '../../parsed.ts';
import { beyond, damaged } from '../refuse.ts';
import { type Ole, openOle } from './ole.ts';
import { writeOle } from './ole-writer.ts';
import { parseXls } from './spreadsheet.ts';

/** The newer of two versions comes first. Names are case-insensitive. */
const streams = [/^workbook$/i, /^book$/i];
const record = { password: 0x2f };
const excel97 = 0x600;
/** A password-protected workbook has a marker in one of its first records. */
const recordsLookedAt = 10;

export const readWorkbook: Parser = async (input, signal) => {
  const { source } = input;
  const stream = streamOf(openOle(input.bytes));
  if (!stream || stream.length < 8) throw damaged(`${source} has no workbook stream`);
  if (firstRecords(stream).includes(record.password)) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  if (stream.readUInt16LE(4) < excel97) {
    throw new Failure(
      'unsupported_mime',
      `${source} is an Excel workbook from before 1997: save it as XLSX and submit that`,
    );
  }
  // The library knows one spelling of the name, and is stricter about the container than Excel.
  const bytes = writeOle('Workbook', stream);
  if (!bytes) throw beyond('ole', `${source} has a workbook of ${stream.length} bytes`);
  return parseXls({ ...input, bytes }, signal);
};

function streamOf({ names, read }: Ole): Buffer | undefined {
  const name = streams.flatMap((stream) => names.filter((each) => stream.test(each)))[0];
  return name === undefined ? undefined : read(name);
}

function firstRecords(stream: Buffer): number[] {
  const types: number[] = [];
  for (let at = 0; at + 4 <= stream.length && types.length < recordsLookedAt; ) {
    types.push(stream.readUInt16LE(at));
    at += 4 + stream.readUInt16LE(at + 2);
  }
  return types;
}
