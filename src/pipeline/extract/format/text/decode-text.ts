/**
 * Bytes of any charset to text. In order: a byte order mark, zero bytes at every second position,
 * UTF-8 if valid, the declared charset if it fits, and finally the charset in which the text looks
 * most like a language.
 */
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

function decodeAs(charset: string, bytes: Uint8Array): string {
  if (!charset.startsWith('utf-32')) return new TextDecoder(charset).decode(bytes);
  return decodeUtf32(bytes, charset === 'utf-32le');
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
