/** The `Range` header of a request: one range of bytes, as RFC 9110 defines it. */

export interface ByteRange {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Undefined: the whole content, because no range was asked for, or several, or none that can be
 * read. `none`: the range lies outside the content.
 */
export function readByteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return suffixOf(Number(last), size);
  const at = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < at) return undefined;
  return at >= size ? 'none' : { at, bytes: end - at };
}

function suffixOf(length: number, size: number): ByteRange | 'none' {
  const bytes = Math.min(length, size);
  return bytes === 0 ? 'none' : { at: size - bytes, bytes };
}
