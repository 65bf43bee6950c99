/** Office files from before 2007, detected by the streams in their container. */
import { Failure } from '../../../../kernel/failure/failure.ts';
import { partOf, withLosses } from '../../loss.ts';
import type { Parsed, ParseInput, Parser } from '../../parsed.ts';
import { readMsg } from '../mail/msg.ts';
import { damaged, guarded } from '../refuse.ts';
import { readDoc } from './doc.ts';
import { type OleFile, openOle } from './ole.ts';
import { readPpt } from './ppt.ts';
import { readWorkbook } from './xls.ts';

const plain = (markdown: string): Parsed => ({ title: null, language: null, markdown, meta: {} });

function parseDoc({ bytes, source }: ParseInput): Parsed {
  const { markdown, characters, charactersMissing } = readDoc(bytes, source);
  const warning = `${partOf(charactersMissing, characters, 'characters')} not read: cut off.`;
  const losses = charactersMissing > 0 ? [{ warning, reason: 'cut_off', texts: [] }] : [];
  const read = characters - charactersMissing;
  return withLosses(plain(markdown), { read, whole: characters, losses });
}

interface Reader {
  readonly stream: RegExp;
  /** The streams with text, if they differ. */
  readonly texts?: RegExp;
  readonly parse: Parser;
  /** Whether the reader reports its own losses. */
  readonly countsLosses?: boolean;
}

const readers: readonly Reader[] = [
  { stream: /^WordDocument$/, parse: async (input) => parseDoc(input), countsLosses: true },
  { stream: /^(?:Workbook|Book)$/i, parse: readWorkbook },
  {
    stream: /^PowerPoint Document$/,
    parse: async ({ bytes, source }) => plain(readPpt(bytes, source)),
  },
  {
    stream: /^__(?:substg1|properties_version1)\.0/,
    // Attached files are in folders.
    texts: /(?:^|\/)__(?:substg1|properties_version1)\.0/,
    parse: async (input) => readMsg(input),
  },
];

export const parseOldOffice: Parser = async (input, signal) => {
  const { source } = input;
  const ole = openOle(input.bytes);
  const { names } = ole;
  if (names.some((name) => /^EncryptedPackage$/i.test(name))) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  const reader = readers.find(({ stream }) => names.some((name) => stream.test(name)));
  if (!reader && ole.isCutOff) throw damaged(`${source} was cut off: save it again`);
  if (!reader) {
    throw new Failure(
      'unsupported_mime',
      `${source} is in an old format of Office that is not read: save it as DOCX, XLSX or PPTX`,
    );
  }
  const parsed = await guarded(source, () => reader.parse(input, signal));
  return reader.countsLosses ? parsed : withCutOff(parsed, ole, reader.texts ?? reader.stream);
};

/** The streams of a truncated file are read as far as they go. */
function withCutOff(parsed: Parsed, ole: OleFile, texts: RegExp): Parsed {
  const { found, stated } = ole.extentOf(ole.names.filter((name) => texts.test(name)));
  const warning = `${partOf(stated - found, stated, 'bytes')} not read: the file was cut off.`;
  const losses = found < stated ? [{ warning, reason: 'cut_off', texts: [] }] : [];
  return withLosses(parsed, { read: found, whole: stated, losses });
}
