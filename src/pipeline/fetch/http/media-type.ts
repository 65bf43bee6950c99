/** The type of a document, by its bytes first and by its name second. */

import { formatOf, typeByName } from '../../extract/format/formats.ts';
import { decodeText, markedCharset, wideCharset } from '../../extract/format/text/decode-text.ts';
import { isWholePage, jsonTypeOf, looksLikeHtml, looksLikeMail, sniffBinary } from './sniff.ts';

/** Whether `content_extracted` can extract text, or say exactly why not. */
export function isReadable(mediaType: string): boolean {
  return formatOf(mediaType) !== undefined;
}

/** Whether only a transcript can show its words. */
export function isRecording(mediaType: string): boolean {
  return /^(?:audio|video)\//.test(mediaType);
}

const lookedAtBytes = 8192;

/**
 * Undefined if it is neither text nor a known format. The extension in the address of a page tells
 * how its server makes it, not what it is: `/index.php` is HTML.
 */
export function mediaTypeOf(
  name: string,
  bytes: Uint8Array,
  { isPage = false }: { readonly isPage?: boolean | undefined } = {},
): string | undefined {
  const isTextual = looksLikeText(bytes);
  const binary = sniffBinary(bytes);
  const named = typeByName(name);
  // Text may begin like a file format: `BZh` and `ID3` are letters.
  if (binary !== undefined && (!isTextual || isWrittenInText(binary, name, bytes))) {
    const isUnnamed = binary === 'application/zip' && isContainer(named);
    return isUnnamed ? named : binary;
  }
  if (!isTextual) return isContainer(named) ? named : undefined;
  return isPage && isWholePage(startOf(bytes)) ? 'text/html' : textTypeOf(name, bytes);
}

/** Formats that may begin with plain letters. */
function isWrittenInText(type: string, name: string, bytes: Uint8Array): boolean {
  if (type === 'application/rtf') return true;
  if (type !== 'application/pdf') return false;
  const isAtStart = Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-';
  return isAtStart || typeByName(name) === type;
}

/** A damaged container keeps the type of its name; its parser reports the damage. */
function isContainer(type: string | undefined): boolean {
  return type !== undefined && /^application\/(?:pdf|epub|vnd\.)/.test(type);
}

const textTypes = /^(?:text\/.+|application\/(?:json|x-ndjson|x-subrip|xml)|message\/rfc822)$/;

interface Named {
  readonly source: string;
  readonly bytes: Uint8Array;
}

/**
 * Content sent as plain text may be code, Markdown or a mail. It is never a page, regardless of its
 * name: a site that wants HTML shown as text says so by the type.
 */
export function refine(mediaType: string, { source, bytes }: Named): string {
  if (mediaType !== 'text/plain') return mediaType;
  const named = typeByName(source) ?? mediaType;
  if (textTypes.test(named) && named !== 'text/html' && named !== mediaType) return named;
  return looksLikeMail(startOf(bytes)) ? 'message/rfc822' : mediaType;
}

/** A file has the type of its name, or without a known extension, that of its beginning. */
function textTypeOf(name: string, bytes: Uint8Array): string {
  const named = typeByName(name);
  if (named !== undefined && named !== 'text/plain' && textTypes.test(named)) return named;
  const start = startOf(bytes);
  if (looksLikeHtml(start)) return 'text/html';
  if (looksLikeMail(start)) return 'message/rfc822';
  if (named === 'text/plain') return named;
  if (/^\s*<\?xml\s/.test(start)) return 'application/xml';
  return jsonTypeOf(start) ?? 'text/plain';
}

function startOf(bytes: Uint8Array): string {
  return decodeText(headOf(bytes)).text;
}

/** Of even length, so that a UTF-16 character is not split. */
function headOf(bytes: Uint8Array): Uint8Array {
  const head = bytes.subarray(0, lookedAtBytes);
  if (head.length === bytes.length) return head;
  const end = head.findLastIndex((byte) => byte === 0x0a || byte === 0x20);
  return end > 0 && wideCharset(head) === undefined ? head.subarray(0, end) : head;
}

/** Texts copied from terminals and databases contain a stray control byte here and there. */
const controlShareMax = 0.002;

/** Control characters that are rare in text: all but tab, line ends, form feed and escape. */
function looksLikeText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, lookedAtBytes);
  const even = head.subarray(0, head.length - (head.length % 2));
  const marked = markedCharset(bytes);
  if (marked?.startsWith('utf-32')) return isWideText(head.subarray(0, head.length & ~3));
  if (marked?.startsWith('utf-16') || wideCharset(even) !== undefined) return isWideText(even);
  // Every file passes here: a loop takes a tenth of the time of a callback per byte.
  let controls = 0;
  for (let at = 0; at < head.length; at++) {
    const byte = head[at] as number;
    if (byte === 0) return false;
    if (byte < 32 && (byte < 9 || byte === 11 || (byte > 13 && byte !== 27))) controls++;
  }
  return controls <= head.length * controlShareMax;
}

function isWideText(bytes: Uint8Array): boolean {
  // The sample may end within a surrogate pair.
  const text = decodeText(bytes).text.replace(/\ufffd$/, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  return !/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\ufffd]/.test(text);
}
