/** The container of old Office files, and of new ones behind a password. Neither can be read. */
import { Failure } from '../../../kernel/failure.ts';
import type { Parser } from '../parsed.ts';

const kinds: readonly (readonly [stream: string, what: string, saveAs: string])[] = [
  ['WordDocument', 'a Word document from before 2007', 'DOCX'],
  ['Workbook', 'an Excel workbook from before 2007', 'XLSX'],
  ['PowerPoint Document', 'a PowerPoint presentation from before 2007', 'PPTX'],
  ['__substg1.0_', 'an Outlook message', 'EML'],
];

export const parseOldOffice: Parser = async ({ bytes, source }) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The directory of the container has its names in UTF-16.
  const holds = (name: string) => buffer.includes(Buffer.from(name, 'utf16le'));
  if (holds('EncryptedPackage')) {
    throw new Failure('encrypted_document', `${source} is protected by a password`);
  }
  const [, what, saveAs] = kinds.find(([stream]) => holds(stream)) ?? [];
  throw new Failure(
    'unsupported_mime',
    what === undefined
      ? `${source} is in an old Office format: save it as DOCX, XLSX or PPTX`
      : `${source} is ${what}: save it as ${saveAs} and submit that`,
  );
};
