/**
 * Bytes to text: UTF-8 if valid, else the charset that the page declares. If the declaration does
 * not fit the bytes, the charset in which they look most like a language.
 */
import { guessCharset } from '../../format/text/guess-charset.ts';

const declaredIn = 4096;
const webHabit = 'windows-1252';
/** Fewer non-ASCII bytes are not enough to guess a language. */
const tellingBytesMin = 16;

export function decodeHtml(bytes: Uint8Array, declared?: string): string {
  return (
    tryDecode(bytes, 'utf-8') ??
    tryDecode(bytes, declared) ??
    tryDecode(bytes, declaredCharset(bytes)) ??
    new TextDecoder(isTelling(bytes) ? guessCharset(bytes) : webHabit).decode(bytes)
  );
}

function isTelling(bytes: Uint8Array): boolean {
  let high = 0;
  for (let at = 0; at < bytes.length && high < tellingBytesMin; at += 1) {
    if ((bytes[at] ?? 0) > 0x7f) high += 1;
  }
  return high >= tellingBytesMin;
}

/** Strict: undefined if the declaration is wrong; an unknown one counts as absent. */
function tryDecode(bytes: Uint8Array, label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, declaredIn));
  return /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{1,40})/i.exec(head)?.[1];
}
