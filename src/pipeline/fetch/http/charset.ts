/**
 * Converts text to UTF-8. Sources of the charset, in order: a byte order mark, the header, the
 * page's own declaration, UTF-8 if it is valid, and finally the legacy default of the web.
 */

const looseLegacy = 'windows-1252';

const marks: readonly [mark: readonly number[], charset: string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

export interface Decoded {
  readonly text: string;
  readonly charset: string;
}

export function decodeText(bytes: Uint8Array, declared: string | undefined): Decoded {
  const charset =
    markedCharset(bytes) ??
    knownCharset(declared) ??
    (isUtf8(bytes) ? 'utf-8' : (metaCharset(bytes) ?? looseLegacy));
  return { text: new TextDecoder(charset).decode(bytes), charset };
}

function markedCharset(bytes: Uint8Array): string | undefined {
  return marks.find(([mark]) => mark.every((byte, index) => bytes[index] === byte))?.[1];
}

/** The charset that a page declares near its start, in one of two ways. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString('latin1');
  const found = /<meta[^>]{0,200}charset\s*=\s*["']?([a-z0-9_:.-]{1,40})/i.exec(head)?.[1];
  const xml = /^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([a-z0-9_:.-]{1,40})/i.exec(head)?.[1];
  const charset = knownCharset(found ?? xml);
  // A declaration that can be read as single bytes cannot be UTF-16.
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

/** `start`: the bytes may end within a character. */
export function isUtf8(bytes: Uint8Array, part: 'whole' | 'start' = 'whole'): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: part === 'start' });
    return true;
  } catch {
    return false; // That it is not UTF-8 is the answer.
  }
}
