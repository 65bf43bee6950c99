/** What a site sent: its type by the bytes and by the header, and its text as UTF-8. */
import { charsetOfAnswer, decodeAs, toUtf8 } from '../../extract/format/text/decode-text.ts';
import { looksLikeHtml, sniffBinary } from './sniff.ts';

export interface Content {
  readonly mediaType: string;
  /** Text is converted to UTF-8. */
  readonly bytes: Uint8Array;
  readonly charset: string | undefined;
}

/** Text types by the names used in headers. */
const textTypes: readonly [declared: RegExp, mediaType: string][] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'text/html'],
  [/^text\/(?:x-)?markdown$/, 'text/markdown'],
  [/^text\/csv$/, 'text/csv'],
  [/^(?:application|text)\/(?:[\w.-]+\+)?json$/, 'application/json'],
  [/^(?:application|text)\/(?:[\w.-]+\+)?xml$/, 'application/xml'],
  [/^text\//, 'text/plain'],
];

/** Undefined if neither the bytes nor the header indicate a known type. */
export async function readContent(
  bytes: Uint8Array,
  contentType: string | undefined,
): Promise<Content | undefined> {
  const binary = sniffBinary(bytes);
  if (binary !== undefined) return { mediaType: binary, bytes, charset: undefined };
  const { type, charset: declared } = parseContentType(contentType ?? '');
  const charset = charsetOfAnswer(bytes, declared);
  const text = decodeAs(charset, bytes.subarray(0, headBytes));
  if (isBinary(text)) return undefined;
  const named = textTypes.find(([pattern]) => pattern.test(type))?.[1];
  const mediaType = named ?? (looksLikeHtml(text) ? 'text/html' : 'text/plain');
  const isAsItCame = charset === 'utf-8';
  return { mediaType, bytes: isAsItCame ? bytes : await toUtf8(bytes, charset), charset };
}

/** The type is decided by what a text begins with. */
const headBytes = 64 * 1024;

function parseContentType(header: string): { type: string; charset: string | undefined } {
  const [type = ''] = header.split(/[;,]/);
  const charset = /;\s*charset\s*=\s*"?([^\s";,]{1,40})/i.exec(header)?.[1];
  return { type: type.trim().toLowerCase(), charset };
}

/** Control characters near the start that do not occur in text. */
function isBinary(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text.slice(0, 8192));
}
