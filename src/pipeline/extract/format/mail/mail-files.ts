/**
 * The attachments of a mail: which of them become documents, and how the mail's text lists them. A
 * file that is not read is listed with the reason.
 */

import { limits } from '../../../../kernel/limits/limits.ts';
import { safeFileName } from '../../../../kernel/name/attachment.ts';
import { partOf, type Reading } from '../../loss.ts';
import type { Attachment, Parsed } from '../../parsed.ts';
import { formatOf } from '../formats.ts';

export interface MailPart {
  readonly name: string;
  /** Empty if the mail does not state it. */
  readonly mediaType: string;
  /** The id by which the text refers to the part, without brackets. */
  readonly contentId?: string | undefined;
  read(): Uint8Array;
}

export interface MailFiles {
  readonly attachments: readonly Attachment[];
  /** A list for the end of the mail's text; empty if there are no files. */
  readonly text: string;
  readonly meta: Parsed['meta'];
  /** How many files are within the limits. */
  readonly reading: Reading;
}

/** Signatures that mail programs add; they are not readable text. */
const signatures = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature)$/;

const { filesMax, bytesMax, decorationBytesMax } = limits.attachment;

/** `html` is the text that may refer to pictures among the parts. */
export function filesOf(parts: readonly MailPart[], html: string): MailFiles {
  const shown = picturesIn(html);
  const names = new Set<string>();
  const attachments: Attachment[] = [];
  const lines: string[] = [];
  const unread: string[] = [];
  let [bytesLeft, unnamed] = [bytesMax, 0];
  for (const part of parts) {
    if (lines.length === filesMax) {
      unnamed += 1;
      continue;
    }
    const bytes = part.read();
    if (isDecoration(part, bytes, shown)) continue;
    const name = nameOf(part, names);
    const why = refusalOf(part, bytes.length > bytesLeft);
    if (why === undefined) {
      bytesLeft -= bytes.length;
      attachments.push({ name, bytes });
    } else if (!signatures.test(part.mediaType)) unread.push(name);
    const type = part.mediaType === '' ? '' : ` (${part.mediaType})`;
    lines.push(`- ${name}${type}${why === undefined ? '' : `: not read, ${why}`}`);
  }
  const reading = readingOf(attachments.length, unread, unnamed);
  if (lines.length === 0) return { attachments, text: '', meta: {}, reading };
  if (unnamed > 0) lines.push(`- ${unnamed} more: not read, the bound is ${filesMax} files`);
  return {
    attachments,
    text: ['Attachments:', '', ...lines].join('\n'),
    meta: { attachments: names.size + unnamed, attachment_names: [...names].join(', ') },
    reading,
  };
}

/** A file counts as much as the message itself: its amount of text is unknown. */
function readingOf(read: number, unread: readonly string[], unnamed: number): Reading {
  const lost = unread.length + unnamed;
  const files = read + lost;
  const warning = `${partOf(lost, files, 'attachments')} not read: save and submit them apart.`;
  const texts = unnamed > 0 ? [...unread, `${unnamed} more`] : unread;
  const losses = lost > 0 ? [{ warning, reason: 'attachment', texts }] : [];
  return { read: 1 + read, whole: 1 + files, losses };
}

/** The content ids of pictures that the text shows. */
function picturesIn(html: string): ReadonlySet<string> {
  return new Set(Array.from(html.matchAll(/\bcid:([^\s"'<>()]{1,250})/gi), ([, id = '']) => id));
}

function isDecoration(part: MailPart, bytes: Uint8Array, shown: ReadonlySet<string>): boolean {
  const { mediaType, contentId } = part;
  const isShown = contentId !== undefined && shown.has(contentId);
  return isShown && mediaType.startsWith('image/') && bytes.length <= decorationBytesMax;
}

function refusalOf({ mediaType }: MailPart, isTooLarge: boolean): string | undefined {
  if (signatures.test(mediaType)) return 'it is a signature';
  return isTooLarge ? `all files together have more than ${bytesMax} bytes` : undefined;
}

/** The name as given, with a number if an earlier part has the same. */
function nameOf({ name, mediaType }: MailPart, names: Set<string>): string {
  const given = safeFileName(name);
  const extension = formatOf(mediaType)?.extensions[0];
  const isMail = mediaType === 'message/rfc822' && !/\.(?:eml|msg)$/i.test(given);
  const base =
    given || `attachment-${names.size + 1}${isMail || !extension ? '' : `.${extension}`}`;
  const whole = isMail ? `${base}.eml` : base;
  const dot = whole.lastIndexOf('.') > 0 ? whole.lastIndexOf('.') : whole.length;
  let unique = whole;
  for (let count = 2; names.has(unique); count += 1) {
    unique = `${whole.slice(0, dot)} (${count})${whole.slice(dot)}`;
  }
  names.add(unique);
  return unique;
}
