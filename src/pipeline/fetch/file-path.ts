/**
 * Converts between paths and sources. File names are bytes, sources are text: a path that is not
 * UTF-8 is written as a `file:` URL with escaped bytes. Absolute paths begin with a slash or a
 * drive letter, so the two cannot be confused.
 */
import { isUtf8 } from 'node:buffer';

const scheme = 'file://';

export function sourceOfPath(path: Buffer): string {
  if (isUtf8(path)) return path.toString();
  const escaped = [...path].map((byte) =>
    isPlain(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`,
  );
  return `${scheme}${escaped.join('')}`;
}

/** The path for the file system. */
export function pathOfSource(source: string): string | Buffer {
  if (!source.startsWith(`${scheme}/`)) return source;
  const parts = source.slice(scheme.length).split(/(%[0-9a-f]{2})/i);
  return Buffer.concat(
    parts.map((part) =>
      /^%[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part),
    ),
  );
}

/** Printable ASCII except the escape character. */
function isPlain(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && byte !== 0x25;
}
