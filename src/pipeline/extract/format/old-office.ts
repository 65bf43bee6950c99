/** Office files from before 2007, by the streams in their container. */
import { Failure } from '../../../kernel/failure.ts';
import { partOf, withLosses } from '../loss.ts';
import type { Parsed, ParseInput, Parser } from '../parsed.ts';
import { readDoc } from './doc.ts';
import { readMsg } from './msg.ts';
import { openOle } from './ole.ts';
import { readPpt } from './ppt.ts';
import { guarded } from './refuse.ts';
import { parseXls } from './spreadsheet.ts';

const plain = (markdown: string): Parsed => ({ title: null, language: null, markdown, meta: {} });

function parseDoc({ bytes, source }: ParseInput): Parsed {
  const { markdown, characters, charactersMissing } = readDoc(bytes, source);
  const warning = `${partOf(charactersMissing, characters, 'characters')} not read: cut off.`;
  const losses = charactersMissing > 0 ? [{ warning, reason: 'cut_off', texts: [] }] : [];
  const read = characters - charactersMissing;
  return withLosses(plain(markdown), { read, whole: characters, losses });
}

const readers: readonly { readonly stream: RegExp; readonly parse: Parser }[] = [
  { stream: /^WordDocument$/, parse: async (input) => parseDoc(input) },
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
