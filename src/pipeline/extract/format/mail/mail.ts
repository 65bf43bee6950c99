/** A mail: sender, recipients, date, text and attachments. */
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { limits } from '../../../../kernel/limits/limits.ts';
import { countWords } from '../../html/block/blocks.ts';
import { withLosses } from '../../loss.ts';
import type { Parser } from '../../parsed.ts';
import { guarded } from '../refuse.ts';
import { decodeText } from '../text/decode-text.ts';
import { readHtmlDocument } from '../xml/html-document.ts';
import { filesOf, type MailPart } from './mail-files.ts';

export const parseMail: Parser = async ({ bytes, source, withDropped }) => {
  const email = await guarded(source, () =>
    PostalMime.parse(inBytes(bytes), {
      maxNestingDepth: limits.parse.mailDepthMax,
      // A mail in a mail is a document of its own, not part of this text.
      forceRfc822Attachments: true,
    }),
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
  const files = filesOf(email.attachments.map(partOf), email.html ?? '');
  const parts = [head.join('\n'), body, files.text];
  const isEnvelope = body === '' && !subject && files.attachments.length === 0;
  const parsed = {
    title: subject?.trim() || null,
    language: null,
    markdown: isEnvelope ? '' : parts.filter((part) => part !== '').join('\n\n'),
    meta: {
      ...(from !== '' && { author: from }),
      ...(to !== '' && { to }),
      ...(date !== undefined && { date }),
      ...(email.messageId !== undefined && { message_id: email.messageId }),
      ...files.meta,
    },
    attachments: files.attachments,
  };
  return withLosses(parsed, { ...files.reading, withDropped });
};

/** A message saved as UTF-16 or UTF-32 text is converted back to bytes. */
function inBytes(bytes: Uint8Array): Uint8Array {
  const { text, charset } = decodeText(bytes);
  return /^utf-(?:16|32)/.test(charset) ? Buffer.from(text) : bytes;
}

function nameOf({ name, address, group }: Address): string {
  if (group !== undefined) return name;
  if (!address) return name;
  return name !== '' && name !== address ? `${name} <${address}>` : address;
}

/** Both have the same content, and the plain text is cleaner, unless it only refers to the HTML. */
function bodyOf({ text, html }: Email): string {
  const plain = (text ?? '').replaceAll('\r\n', '\n').trim();
  if (html === undefined) return plain;
  const rich = readHtmlDocument(html, { hasGrids: false }).markdown;
  return countWords(rich) > 1.5 * countWords(plain) ? rich : plain;
}

function partOf({ filename, mimeType, contentId, content }: Attachment): MailPart {
  return {
    name: filename ?? '',
    mediaType: mimeType.toLowerCase(),
    contentId: contentId?.replace(/^<|>$/g, ''),
    read: () => (typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)),
  };
}
