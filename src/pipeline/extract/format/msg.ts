/**
 * Outlook messages: one stream for each property, named by its id and its type. The body is plain
 * text, HTML, or RTF in a packed form of Outlook's own.
 */
import { countWords } from '../html/blocks.ts';
import { withLosses } from '../loss.ts';
import type { Parsed, ParseInput } from '../parsed.ts';
import { decodeText } from './decode-text.ts';
import { readHtmlDocument } from './html-document.ts';
import { unreadAttachments } from './mail.ts';
import { type Ole, openOle } from './ole.ts';
import { unpackRtf } from './packed-rtf.ts';
import { parseRtf } from './rtf.ts';

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
  longName: '3707',
  shortName: '3704',
};
const types = { wide: '001F', narrow: '001E', binary: '0102' };

export async function readMsg(input: ParseInput): Promise<Parsed> {
  const ole = openOle(input.bytes);
  const text = (id: string, folder = ''): string => textOf(ole, `${folder}__substg1.0_${id}`);
  const subject = text(property.subject).trim();
  const from = [text(property.sender), text(property.senderAddress)].find((name) => name !== '');
  const to = text(property.to);
  const date = /^Date:\s*(.{1,100})$/im.exec(text(property.headers))?.[1]?.trim();
  const head = Object.entries({ From: from, To: to, Cc: text(property.cc), Date: date })
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}: ${value}`);
  const body = bodyOf(ole, text(property.body)) || (await packedBody(ole, input));
  const names = attachmentFolders(ole)
    .map((folder) => text(property.longName, folder) || text(property.shortName, folder))
    .filter((name) => name !== '');
  const list =
    names.length > 0 ? `Attachments:\n\n${names.map((name) => `- ${name}`).join('\n')}` : '';
  const parts = [head.join('\n'), body, list].filter((part) => part !== '');
  const parsed = {
    title: subject || null,
    language: null,
    markdown: body === '' && subject === '' ? '' : parts.join('\n\n'),
    meta: {
      ...(from !== undefined && { author: from }),
      ...(to !== '' && { to }),
      ...(date !== undefined && { date }),
      ...(text(property.messageId) !== '' && { message_id: text(property.messageId) }),
      ...(names.length > 0 && { attachments: names.length }),
    },
  };
  return withLosses(parsed, { ...unreadAttachments(names), withDropped: input.withDropped });
}

function textOf(ole: Ole, stream: string): string {
  const wide = ole.read(`${stream}${types.wide}`);
  if (wide) return wide.toString('utf16le').replace(/\0+$/, '');
  const narrow = ole.read(`${stream}${types.narrow}`);
  return narrow ? decodeText(narrow).text.replace(/\0+$/, '') : '';
}

function bodyOf(ole: Ole, body: string): string {
  const plain = body.replace(/\r\n?/g, '\n').trim();
  const html = ole.read(`__substg1.0_${property.html}${types.binary}`);
  const source = html ? decodeText(html).text : textOf(ole, `__substg1.0_${property.html}`);
  if (source === '') return plain;
  const rich = readHtmlDocument(source, { hasGrids: false }).markdown;
  return countWords(rich) > 1.5 * countWords(plain) ? rich : plain;
}

/** For messages that have nothing else. */
async function packedBody(ole: Ole, input: ParseInput): Promise<string> {
  const packed = ole.read(`__substg1.0_${property.packedRtf}${types.binary}`);
  if (!packed) return '';
  const never = new AbortController().signal;
  const { markdown } = await parseRtf({ ...input, bytes: unpackRtf(packed) }, never);
  return markdown;
}

function attachmentFolders({ names }: Ole): string[] {
  const folders = names.flatMap((name) => /^__attach_version1\.0_#[0-9A-F]{8}\//i.exec(name) ?? []);
  return [...new Set(folders)];
}
