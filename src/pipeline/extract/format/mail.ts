/** A message: who wrote to whom and when, its words, and the names of what hangs on it. */
import PostalMime, { type Address, type Email } from 'postal-mime';
import { limits } from '../../../kernel/limits.ts';
import { countWords } from '../html/blocks.ts';
import { type Reading, withLosses } from '../loss.ts';
import type { Parser } from '../parsed.ts';
import { decodeText } from './decode-text.ts';
import { readHtmlDocument } from './html-document.ts';
import { guarded } from './refuse.ts';

export const parseMail: Parser = async ({ bytes, source, withDropped }) => {
  const email = await guarded(source, () =>
    PostalMime.parse(inBytes(bytes), { maxNestingDepth: limits.parse.mailDepthMax }),
  );
  const from = email.from ? nameOf(email.from) : '';
  const to = (email.to ?? []).map(nameOf).join(', ');
  const { date, subject } = email;
  const head = [
    ['From', from],
    ['To', to],
    ['Date', date ?? ''],
  ]
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  const body = bodyOf(email);
  const parts = [head.join('\n'), body, attachmentsOf(email)];
  const parsed = {
    title: subject?.trim() || null,
    language: null,
    // Without words of its own, a message is only an envelope.
    markdown: body === '' && !subject ? '' : parts.filter((part) => part !== '').join('\n\n'),
    meta: {
      ...(from !== '' && { author: from }),
      ...(to !== '' && { to }),
      ...(date !== undefined && { date }),
      ...(email.messageId !== undefined && { message_id: email.messageId }),
      ...(email.attachments.length > 0 && { attachments: email.attachments.length }),
    },
  };
  return withLosses(parsed, { ...unreadAttachments(filesOf(email)), withDropped });
};

/** Pictures that the body shows in place are part of its look. */
function filesOf({ attachments }: Email): string[] {
  return attachments
    .filter(({ related, mimeType }) => !(related && mimeType.startsWith('image/')))
    .map(({ filename, mimeType }) => filename ?? mimeType);
}

/** Every attachment counts as much as the message itself: nobody knows how much text it has. */
export function unreadAttachments(names: readonly string[]): Reading {
  const warning =
    names.length === 1
      ? 'The attachment was not read: save it and submit it as a document of its own.'
      : `${names.length} attachments were not read: save them and submit them as documents.`;
  const losses = names.length > 0 ? [{ warning, reason: 'attachment', texts: names }] : [];
  return { read: 1, whole: 1 + names.length, losses };
}

/** A message saved as text of two or four bytes a character is turned back into one. */
function inBytes(bytes: Uint8Array): Uint8Array {
  const { text, charset } = decodeText(bytes);
  return /^utf-(?:16|32)/.test(charset) ? Buffer.from(text) : bytes;
}

function nameOf({ name, address, group }: Address): string {
  if (group !== undefined) return name;
  return name !== '' && name !== address ? `${name} <${address}>` : address;
}

/** Both say the same, and the plain one is cleaner, unless it is only a hint at the other. */
function bodyOf({ text, html }: Email): string {
  const plain = (text ?? '').replaceAll('\r\n', '\n').trim();
  if (html === undefined) return plain;
  const rich = readHtmlDocument(html, { hasGrids: false }).markdown;
  return countWords(rich) > 1.5 * countWords(plain) ? rich : plain;
}

function attachmentsOf({ attachments }: Email): string {
  const named = attachments.filter(({ filename }) => filename);
  if (named.length === 0) return '';
  const list = named.map(({ filename, mimeType }) => `- ${filename} (${mimeType})`);
  return ['Attachments:', '', ...list].join('\n');
}
