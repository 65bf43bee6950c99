/**
 * The attachments of an Outlook message. An attached message is not a file but a folder of
 * properties: it is written as a MIME mail, so that it can be read as a document of its own.
 */
import { limits } from '../../../../kernel/limits/limits.ts';
import type { Ole } from '../office/ole.ts';
import type { MailPart } from './mail-files.ts';
import { type Letter, propertyOf } from './msg-letter.ts';

const property = {
  displayName: '3001',
  longName: '3707',
  shortName: '3704',
  mediaType: '370E',
  contentId: '3712',
};
const content = '__substg1.0_37010102';
const attachedMessage = '__substg1.0_3701000D/';

type ReadLetter = (message: Ole) => Promise<Letter>;

export async function partsOfMsg(ole: Ole, readLetter: ReadLetter, depth = 1): Promise<MailPart[]> {
  const parts: MailPart[] = [];
  for (const attachment of foldersOf(ole)) {
    const text = (id: string): string => propertyOf(attachment, id);
    const name = text(property.longName) || text(property.shortName) || text(property.displayName);
    const message = within(attachment, attachedMessage);
    if (message.names.length > 0) {
      const mail = await asMime(message, readLetter, depth);
      parts.push({ name, mediaType: 'message/rfc822', read: () => mail });
      continue;
    }
    parts.push({
      name,
      mediaType: text(property.mediaType).toLowerCase(),
      contentId: text(property.contentId).replace(/^<|>$/g, '') || undefined,
      read: () => attachment.read(content) ?? Buffer.alloc(0),
    });
  }
  return parts;
}

/** The attachment folders, one per attachment, by number. */
function foldersOf({ names, read }: Ole): Ole[] {
  const byFolder = new Map<string, string[]>();
  for (const name of names) {
    const [folder] = /^__attach_version1\.0_#[0-9A-F]{8}\//i.exec(name) ?? [];
    if (folder === undefined) continue;
    const inside = byFolder.get(folder) ?? [];
    inside.push(name.slice(folder.length));
    byFolder.set(folder, inside);
  }
  return [...byFolder.keys()].sort().map((folder) => ({
    names: byFolder.get(folder) ?? [],
    read: (name) => read(`${folder}${name}`),
  }));
}

function within({ names, read }: Ole, folder: string): Ole {
  return {
    names: names.filter((name) => name.startsWith(folder)).map((name) => name.slice(folder.length)),
    read: (name) => read(`${folder}${name}`),
  };
}

const boundary = 'part-of-this-mail';
const textBoundary = 'text-of-this-mail';
const lineEnd = '\r\n';

/** Every part is in base64, so that no line can be mistaken for a boundary. */
async function asMime(message: Ole, readLetter: ReadLetter, depth: number): Promise<Buffer> {
  const { subject, from, to, cc, date, messageId, plain, html } = await readLetter(message);
  const parts =
    depth < limits.attachment.depthMax ? partsOfMsg(message, readLetter, depth + 1) : [];
  const header = (name: string, value: string): string[] =>
    value === '' ? [] : [`${name}: ${encodedWord(value)}`];
  const pieces = [
    ...header('From', from),
    ...header('To', to),
    ...header('Cc', cc),
    ...header('Subject', subject),
    ...(date === '' ? [] : [`Date: ${oneLine(date)}`]),
    ...(messageId === '' ? [] : [`Message-ID: ${oneLine(messageId)}`]),
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    ...textParts(plain, html),
    ...(await parts).flatMap((part) => mimePart(boundary, describe(part))),
    `--${boundary}--`,
    '',
  ];
  return Buffer.from(pieces.join(lineEnd));
}

function textParts(plain: string, html: string): string[] {
  const texts = Object.entries({ plain, html }).filter(([, text]) => text !== '');
  if (texts.length === 0) return [];
  return [
    `--${boundary}`,
    `Content-Type: multipart/alternative; boundary="${textBoundary}"`,
    '',
    ...texts.flatMap(([kind, text]) =>
      mimePart(textBoundary, [`text/${kind}; charset=utf-8`, Buffer.from(text)]),
    ),
    `--${textBoundary}--`,
  ];
}

type Described = readonly [type: string, bytes: Uint8Array, more?: string];

function describe({ name, mediaType, contentId, read }: MailPart): Described {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream';
  const file = `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`;
  const id = contentId === undefined ? '' : `${lineEnd}Content-ID: <${oneLine(contentId)}>`;
  return [type, read(), `${lineEnd}Content-Disposition: ${file}${id}`];
}

function mimePart(between: string, [type, bytes, more = '']: Described): string[] {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return [
    `--${between}`,
    `Content-Type: ${type}${more}`,
    'Content-Transfer-Encoding: base64',
    '',
    base64,
  ];
}

function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
