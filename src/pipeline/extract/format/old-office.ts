/** Office files from before 2007, by the streams in their container. */
import { Failure } from '../../../kernel/failure.ts';
import type { Parsed, Parser } from '../parsed.ts';
import { readDoc } from './doc.ts';
import { readMsg } from './msg.ts';
import { openOle } from './ole.ts';
import { readPpt } from './ppt.ts';
import { guarded } from './refuse.ts';
import { parseXls } from './spreadsheet.ts';

const plain = (markdown: string): Parsed => ({ title: null, language: null, markdown, meta: {} });

const readers: readonly { readonly stream: RegExp; readonly parse: Parser }[] = [
  { stream: /^WordDocument$/, parse: async ({ bytes, source }) => plain(readDoc(bytes, source)) },
  { stream: /^(?:Workbook|Book)$/i, parse: parseXls },
  {
    stream: /^PowerPoint Document$/,
    parse: async ({ bytes, source }) => plain(readPpt(bytes, source)),
  },
  { stream: /^__(?:substg1|properties_version1)\.0/, parse: async (input) => readMsg(input) },
];

export const parseOldOffice: Parser = async (input, signal) => {
  const { source } = input;
  const { names } = openOle(input.bytes);
  if (names.includes('EncryptedPackage')) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  const reader = readers.find(({ stream }) => names.some((name) => stream.test(name)));
  if (!reader) {
    throw new Failure(
      'unsupported_mime',
      `${source} is in an old format of Office that is not read: save it as DOCX, XLSX or PPTX`,
    );
  }
  return guarded(source, () => reader.parse(input, signal));
};
