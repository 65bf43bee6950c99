/**
 * Outlook messages: one stream per property, named by its id and type. The body is plain text,
 * HTML, or RTF in Outlook's own compression.
 */
import type { ParseInput } from '../../parsed.ts';
import type { Ole } from '../office/ole.ts';
import { unpackRtf } from '../rtf/packed-rtf.ts';
import { parseRtf } from '../rtf/rtf.ts';
import { decodeText } from '../text/decode-text.ts';

const property = {
  subject: '0037',
  sender: '0C1A',
  senderAddress: '0C1F',
  to: '0E04',
  cc: '0E03',
  body: '1000',
  html: '1013',
  packedRtf: '1009',
  messageId: '1035',
  headers: '007D',
};
const types = { wide: '001F', narrow: '001E', binary: '0102' };

/** A message without its attachments. Missing fields are empty. */
export interface Letter {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly date: string;
  readonly messageId: string;
  readonly plain: string;
  readonly html: string;
}

export async function readLetter(ole: Ole, input: ParseInput): Promise<Letter> {
  const text = (id: string): string => propertyOf(ole, id);
  const html = ole.read(`__substg1.0_${property.html}${types.binary}`);
  const source = html ? decodeText(html).text : text(property.html);
  const plain = text(property.body).replace(/\r\n?/g, '\n').trim();
  return {
    subject: text(property.subject).trim(),
    from: text(property.sender) || text(property.senderAddress),
    to: text(property.to),
    cc: text(property.cc),
    date: /^Date:\s*(.{1,100})$/im.exec(text(property.headers))?.[1]?.trim() ?? '',
    messageId: text(property.messageId),
    plain: plain === '' && source === '' ? await packedBody(ole, input) : plain,
    html: source,
  };
}

/** A text property, in either of its encodings. Empty if absent. */
export function propertyOf(ole: Ole, id: string): string {
  const wide = ole.read(`__substg1.0_${id}${types.wide}`);
  if (wide) return wide.toString('utf16le').replace(/\0+$/, '');
  const narrow = ole.read(`__substg1.0_${id}${types.narrow}`);
  return narrow ? decodeText(narrow).text.replace(/\0+$/, '') : '';
}

/** For messages without any other body. */
async function packedBody(ole: Ole, input: ParseInput): Promise<string> {
  const packed = ole.read(`__substg1.0_${property.packedRtf}${types.binary}`);
  if (!packed) return '';
  const never = new AbortController().signal;
  const { markdown } = await parseRtf({ ...input, bytes: unpackRtf(packed) }, never);
  return markdown;
}
