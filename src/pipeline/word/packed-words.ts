/**
 * The packed words of a generation: what a search needs of its texts, without parsing. Written once
 * and read by every process that searches, so the format is made for fast reading. A term is
 * identified by a hash of 40 bits: of a million different terms, one in a million collides.
 *
 * The bytes are consecutive blocks. A block is, in the byte order of the processor:
 *
 *   32 bits each   the number of its bytes, chunks, terms and postings
 *   32 bits each   per chunk its ordinal, then per chunk its number of words
 *   32 bits each   per term its hash, in ascending order
 *   16 bits each   per term the start of its postings
 *   16 bits each   the postings: the index of a chunk in the block × 256, plus the count
 *    8 bits each   per term the rest of its hash
 */
export interface TermKey {
  readonly hash: number;
  readonly check: number;
}

const headWords = 4;
/** A chunk index takes one byte of a posting, and a posting index two bytes of a term. */
export const chunksMax = 256;
export const postingsMax = 0xffff;
/** A posting is the index of a chunk, and in these lower bits the count of the term. */
export const countBits = 8;
export const countMax = 2 ** countBits - 1;

/** Deterministic: stored bytes depend on it. */
export function termKeyOf(term: string): TermKey {
  let hash = 0x811c9dc5;
  let check = 0;
  for (let place = 0; place < term.length; place++) {
    const code = term.charCodeAt(place);
    hash = Math.imul(hash ^ code, 0x01000193);
    check = Math.imul(check, 0x9e3779b1) + code;
  }
  return { hash: mixed(hash) >>> 0, check: mixed(check) >>> 24 };
}

function mixed(value: number): number {
  const one = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const two = Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return two ^ (two >>> 16);
}

/** A block under construction. */
export interface NewBlock {
  readonly ordinals: readonly number[];
  readonly lengths: readonly number[];
  /** In ascending order of their hashes. */
  readonly terms: readonly TermKey[];
  /** Per term. */
  readonly starts: Uint16Array;
  readonly postings: Uint16Array;
}

export function packBlock({ ordinals, lengths, terms, starts, postings }: NewBlock): Uint8Array {
  const [chunks, size] = [ordinals.length, terms.length];
  const places = placesOf(chunks, size, postings.length);
  const bytes = new Uint8Array(places.end);
  const words = new Uint32Array(bytes.buffer);
  words.set([places.end, chunks, size, postings.length]);
  words.set(ordinals, headWords);
  words.set(lengths, headWords + chunks);
  const halves = new Uint16Array(bytes.buffer);
  halves.set(starts, places.starts);
  halves.set(postings, places.postings);
  terms.forEach(({ hash, check }, place) => {
    words[places.hashes + place] = hash;
    bytes[places.checks + place] = check;
  });
  return bytes;
}

/** The start of each part of a block, in units of its own element size. */
function placesOf(chunks: number, terms: number, postings: number) {
  const hashes = headWords + chunks * 2;
  const starts = (hashes + terms) * 2;
  const checks = (starts + terms + postings) * 2;
  const end = Math.ceil((checks + terms) / 4) * 4;
  return { hashes, starts, postings: starts + terms, checks, end };
}

/** One block of packed words: its sizes, and the start of each part. */
export interface Block {
  readonly bytes: Uint8Array;
  readonly halves: Uint16Array;
  readonly words: Uint32Array;
  readonly chunks: number;
  readonly terms: number;
  readonly postings: number;
  /** Index into `words`. */
  readonly ordinalsAt: number;
  readonly lengthsAt: number;
  readonly hashesAt: number;
  /** Index into `halves`. */
  readonly startsAt: number;
  readonly postingsAt: number;
  /** Index into `bytes`. */
  readonly checksAt: number;
}

export function* blocksOf(packed: Uint8Array): Generator<Block> {
  // 32-bit views need an address that is a multiple of four.
  const bytes = packed.byteOffset % 4 === 0 ? packed : new Uint8Array(packed);
  const { buffer, byteOffset, length } = bytes;
  const words = new Uint32Array(buffer, byteOffset, length >> 2);
  const halves = new Uint16Array(buffer, byteOffset, length >> 1);
  for (let start = 0; start < length; ) {
    const head = start >> 2;
    const [chunks, terms] = [words[head + 1] as number, words[head + 2] as number];
    const postings = words[head + 3] as number;
    const places = placesOf(chunks, terms, postings);
    yield {
      ...{ bytes, halves, words, chunks, terms, postings },
      ordinalsAt: head + headWords,
      lengthsAt: head + headWords + chunks,
      hashesAt: head + places.hashes,
      startsAt: (start >> 1) + places.starts,
      postingsAt: (start >> 1) + places.postings,
      checksAt: start + places.checks,
    };
    start += places.end;
  }
}

/** The end of a term's postings, counted from the first one of the block. */
export function endOf({ halves, startsAt, terms, postings }: Block, term: number): number {
  return term + 1 < terms ? (halves[startsAt + term + 1] as number) : postings;
}

/** Terms to look up, in ascending order of their hashes. */
export interface Wanted {
  readonly hashes: Uint32Array;
  readonly checks: Uint8Array;
}

export function toWanted(terms: Iterable<string>): Wanted {
  const keys = [...new Set(terms)].map(termKeyOf).sort((a, b) => a.hash - b.hash);
  return {
    hashes: Uint32Array.from(keys, ({ hash }) => hash),
    checks: Uint8Array.from(keys, ({ check }) => check),
  };
}

/** The terms of a block that are wanted. */
export function termsAmong(block: Block, { hashes, checks }: Wanted): number[] {
  const { words, hashesAt, bytes, checksAt, terms } = block;
  const found: number[] = [];
  let term = 0;
  for (let index = 0; index < hashes.length; index++) {
    const hash = hashes[index] as number;
    while (term < terms && (words[hashesAt + term] as number) < hash) term += 1;
    for (let same = term; same < terms && words[hashesAt + same] === hash; same++) {
      if (bytes[checksAt + same] === checks[index]) found.push(same);
    }
  }
  return found;
}
