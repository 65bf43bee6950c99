/**
 * Where the text of a syntax node stands in the Markdown source. Usually the text is a slice of the
 * source; with escapes, references such as `&amp;`, or line prefixes such as `> ` it is not.
 */

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface Segment {
  readonly text: string;
  /** The index of the range that marks it; undefined for plain text. */
  readonly mark?: number | undefined;
}

/** The offset in the source of each character of the text, which begins at or after `from`. */
export function offsetsOf(text: string, source: string, from: number): number[] {
  const offsets: number[] = [];
  let at = from;
  for (let index = 0; index < text.length; index += 1) {
    const reference = /^&#?\w{1,31};/.exec(source.slice(at, at + 34))?.[0];
    if (reference && !text.startsWith(reference, index)) {
      offsets.push(at);
      at += reference.length;
      continue;
    }
    const found = placeOf(text[index] ?? '', source, at);
    at = found < 0 ? at : found;
    offsets.push(at);
    at += 1;
  }
  return offsets;
}

/** A space also stands for the line break that was there before lines were joined. */
function placeOf(letter: string, source: string, at: number): number {
  if (letter === ' ' && source[at] === '\n') return at;
  return source.indexOf(letter, at);
}

/** The text in pieces, each inside or outside of one range. Ranges are in order, and apart. */
export function segmentsOf(
  text: string,
  { source, from, ranges }: { source: string; from: number; ranges: readonly Range[] },
): Segment[] {
  const isSlice = source.startsWith(text, from);
  const offsets = isSlice || ranges.length === 0 ? undefined : offsetsOf(text, source, from);
  const offsetAt = (index: number): number => offsets?.[index] ?? from + index;
  const segments: Segment[] = [];
  let begin = 0;
  const close = (end: number, mark?: number): void => {
    if (end > begin) segments.push({ text: text.slice(begin, end), mark });
    begin = end;
  };
  for (const [mark, { start, end }] of ranges.entries()) {
    if (end <= offsetAt(begin) || start > offsetAt(text.length - 1)) continue;
    let first = begin;
    while (first < text.length && offsetAt(first) < start) first += 1;
    let last = first;
    while (last < text.length && offsetAt(last) < end) last += 1;
    if (last === first) continue;
    close(first);
    close(last, mark);
  }
  close(text.length);
  return segments;
}
