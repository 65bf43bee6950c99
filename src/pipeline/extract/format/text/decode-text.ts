/**
 * Bytes to text. A byte order mark is believed first, then UTF-8 if the bytes are valid UTF-8, then
 * what was declared if it fits, then the charset in which the text reads most like a language.
 * Pages of the web are read as browsers read them: what a header declares goes before UTF-8.
 */
import { isUtf8 } from 'node:buffer';
import { TimeSlice } from '../../../../concurrency/time-slice.ts';
import { guessCharset } from './guess-charset.ts';

export interface DecodedText {
  readonly text: string;
  readonly charset: string;
  /** True if the charset is neither evident from the bytes nor declared. */
  readonly isGuess: boolean;
}

const marks: readonly (readonly [mark: readonly number[], charset: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  // Before UTF-16, whose mark is a prefix of this one.
  [[0xff, 0xfe, 0x00, 0x00], 'utf-32le'],
  [[0x00, 0x00, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

export function decodeText(bytes: Uint8Array, declared?: string): DecodedText {
  const sure = markedCharset(bytes) ?? wideCharset(bytes);
  if (sure !== undefined) return { text: decodeAs(sure, bytes), charset: sure, isGuess: false };
  // Japanese mail in ISO-2022-JP is seven-bit, and valid but unreadable UTF-8.
  const first = hasEscapes(bytes) ? ['iso-2022-jp', 'utf-8'] : ['utf-8'];
  for (const charset of [...first, declared]) {
    const text = tryDecode(bytes, charset);
    if (text !== undefined && charset)
      return { text, charset: charset.toLowerCase(), isGuess: false };
  }
  const charset = guessCharset(bytes);
  return { text: new TextDecoder(charset).decode(bytes), charset, isGuess: true };
}

const webHabit = 'windows-1252';

/** Of an answer over HTTP: its header is believed before its bytes. */
export function charsetOfAnswer(bytes: Uint8Array, declared: string | undefined): string {
  return (
    markedCharset(bytes) ??
    knownCharset(declared) ??
    (isUtf8(bytes) ? 'utf-8' : (metaCharset(bytes) ?? webHabit))
  );
}

/** A page. Where its declaration does not fit the bytes, the charset is guessed. */
export function decodeHtml(bytes: Uint8Array, declared?: string): string {
  for (const charset of ['utf-8', declared, markedCharset(bytes), metaCharset(bytes)]) {
    const text = tryDecode(bytes, charset);
    if (text !== undefined) return text;
  }
  return new TextDecoder(isTelling(bytes) ? guessCharset(bytes) : webHabit).decode(bytes);
}

/** Fewer bytes beyond ASCII than these say nothing about a language. */
const tellingBytesMin = 16;

function isTelling(bytes: Uint8Array): boolean {
  let high = 0;
  for (let at = 0; at < bytes.length && high < tellingBytesMin; at += 1) {
    if ((bytes[at] ?? 0) > 0x7f) high += 1;
  }
  return high >= tellingBytesMin;
}

/** What a page declares of itself near its start, in one of the two ways. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString('latin1');
  const found = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1];
  const xml = /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head)?.[1];
  const charset = knownCharset(found ?? xml);
  // A page that says so in one byte a letter cannot be in two.
  return charset?.startsWith('utf-16') ? 'utf-8' : charset;
}

function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined || label.length > 40) return undefined;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined; // A name that nobody knows is as good as none.
  }
}

export function decodeAs(charset: string, bytes: Uint8Array): string {
  if (!charset.startsWith('utf-32')) return new TextDecoder(charset).decode(bytes);
  return decodeUtf32(bytes, charset === 'utf-32le');
}

/** A multiple of the bytes of a character in UTF-32. */
const pieceBytes = 256 * 1024;

/**
 * In pieces, between which the event loop turns: some charsets take a second for a page of the
 * largest size.
 */
export async function toUtf8(bytes: Uint8Array, charset: string): Promise<Uint8Array> {
  const decoder = charset.startsWith('utf-32') ? undefined : new TextDecoder(charset);
  const slice = new TimeSlice();
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    const isLast = at + pieceBytes >= bytes.length;
    const text = decoder?.decode(piece, { stream: !isLast }) ?? decodeAs(charset, piece);
    pieces.push(Buffer.from(text));
    if (slice.isOver) await slice.next();
  }
  return Buffer.concat(pieces);
}

/** TextDecoder does not support UTF-32. Invalid characters become the replacement character. */
function decodeUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: string[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle);
    if (at === 0 && code === 0xfeff) continue;
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    pieces.push(isCharacter ? String.fromCodePoint(code) : '\ufffd');
  }
  return pieces.join('');
}

export function markedCharset(bytes: Uint8Array): string | undefined {
  return marks.find(([mark]) => mark.every((byte, index) => bytes[index] === byte))?.[1];
}

const wideSampleBytes = 4096;
const wideShareMin = 0.25;

/** UTF-16 without a mark: at least spaces and line ends have a zero in the same half. */
export function wideCharset(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  const sample = bytes.subarray(0, wideSampleBytes);
  // Fast path: there is almost never a zero byte.
  if (!sample.includes(0)) return undefined;
  const zeros = [0, 0];
  sample.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  const half = sample.length / 2;
  const charset = odd > even ? 'utf-16le' : 'utf-16be';
  // A single zero is not a pattern.
  const needed = Math.max(2, wideShareMin * half);
  const isOneSided = Math.min(even, odd) === 0 && Math.max(even, odd) >= needed;
  return isOneSided && tryDecode(bytes, charset) !== undefined ? charset : undefined;
}

function hasEscapes(bytes: Uint8Array): boolean {
  const at = bytes.indexOf(0x1b);
  return at >= 0 && (bytes[at + 1] === 0x24 || bytes[at + 1] === 0x28);
}

/** Strict: undefined if the bytes do not fit; an unknown charset counts as absent. */
function tryDecode(bytes: Uint8Array, charset: string | undefined): string | undefined {
  if (charset === undefined || charset.length > 40) return undefined;
  try {
    return new TextDecoder(charset.trim(), { fatal: true }).decode(bytes);
  } catch {
    return undefined; // That it does not fit is the answer.
  }
}
