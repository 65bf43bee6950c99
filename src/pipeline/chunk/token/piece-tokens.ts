/**
 * Counts the tokens of a piece by the encoding's own rule: of all adjacent pairs that form a token,
 * the one with the lowest rank is merged, leftmost first, until none is left. Most pieces are short
 * and are scanned again for each merge. A long one keeps its merges in a heap, which avoids
 * quadratic time.
 */
import type { Span } from '../block.ts';
import { NumberHeap } from './number-heap.ts';
import type { PieceCharacters } from './piece-memory.ts';
import { noRank, readVocabulary, type Vocabulary } from './vocabulary.ts';

/** Above this size the heap is faster. */
const scannedBytesMax = 96;
/** Larger buffers are allocated per piece and freed. */
const keptBytes = 1024;
const bytesPerUnit = 3;
/** A heap entry: the rank of a merge times this, plus the start of its first part. */
const placesMax = 2 ** 32;
const encoder = new TextEncoder();

export class PieceTokens {
  readonly #vocabulary = readVocabulary();
  readonly #kept = new Merging(this.#vocabulary, keptBytes);

  /** The tokens of `text.slice(start, end)`. */
  count(characters: PieceCharacters, start: number, end: number): number {
    const room = bytesPerUnit * (end - start);
    const merging = room <= keptBytes ? this.#kept : new Merging(this.#vocabulary, room);
    const size = encode(characters, { start, end }, merging.bytes);
    if (this.#vocabulary.rank(merging.bytes, 0, size) !== noRank) return 1;
    return size <= scannedBytesMax ? merging.scan(size) : merging.drain(size);
  }
}

/** As UTF-8. Most pieces are ASCII, and their bytes can be copied. */
function encode({ text, codes }: PieceCharacters, span: Span, bytes: Uint8Array): number {
  const { start, end } = span;
  for (let place = start; place < end; place++) {
    const code = codes[place] as number;
    if (code > 0x7f) return encoder.encodeInto(text.slice(start, end), bytes).written;
    bytes[place - start] = code;
  }
  return end - start;
}

class Merging {
  readonly bytes: Uint8Array;
  readonly #vocabulary: Vocabulary;
  /** Per part: its rank when merged with the next one. */
  readonly #ranks: Int32Array;
  readonly #starts: Int32Array;
  readonly #befores: Int32Array;
  readonly #merges: NumberHeap;

  constructor(vocabulary: Vocabulary, size: number) {
    this.#vocabulary = vocabulary;
    this.bytes = new Uint8Array(size);
    this.#ranks = new Int32Array(size + 1);
    this.#starts = new Int32Array(size + 1);
    this.#befores = new Int32Array(size + 1);
    this.#merges = new NumberHeap(3 * size);
  }

  /** The number of parts left of the first `size` bytes. `#starts` has the start of each. */
  scan(size: number): number {
    const starts = this.#starts;
    const ranks = this.#ranks;
    for (let part = 0; part < size; part++) {
      starts[part] = part;
      ranks[part] = this.#pairRank(part, size);
    }
    starts[size] = size;
    for (let count = size; ; ) {
      const part = lowest(ranks, count);
      if (ranks[part] === noRank) return count;
      for (let next = part + 1; next < count; next++) {
        starts[next] = starts[next + 1] as number;
        ranks[next] = ranks[next + 1] as number;
      }
      count -= 1;
      ranks[part] = part + 1 < count ? this.#rankAt(part) : noRank;
      if (part > 0) ranks[part - 1] = this.#rankAt(part - 1);
    }
  }

  #pairRank(first: number, size: number): number {
    const { bytes } = this;
    return first + 1 < size
      ? this.#vocabulary.pairRank(bytes[first] as number, bytes[first + 1] as number)
      : noRank;
  }

  /** The rank of the part merged with the next one. */
  #rankAt(part: number): number {
    const end = this.#starts[part + 2] as number;
    return this.#vocabulary.rank(this.bytes, this.#starts[part] as number, end);
  }

  /**
   * Like `scan`. Here a part is identified by its start, and `#starts` has the start of the next.
   */
  drain(size: number): number {
    const starts = this.#starts;
    const befores = this.#befores;
    const ranks = this.#ranks;
    for (let part = 0; part < size; part++) {
      starts[part] = part + 1;
      befores[part] = part - 1;
      this.#offer(part, this.#pairRank(part, size));
    }
    let count = size;
    for (let merge = this.#merges.pop(); merge !== undefined; merge = this.#merges.pop()) {
      const rank = Math.floor(merge / placesMax);
      const part = merge - rank * placesMax;
      // Stale: one of the two parts has grown or is gone.
      if (ranks[part] !== rank) continue;
      const next = starts[part] as number;
      const end = starts[next] as number;
      starts[part] = end;
      befores[end] = part;
      ranks[next] = noRank;
      count -= 1;
      this.#offer(part, this.#rankFrom(part, size));
      if (part > 0)
        this.#offer(befores[part] as number, this.#rankFrom(befores[part] as number, size));
    }
    return count;
  }

  #offer(part: number, rank: number): void {
    this.#ranks[part] = rank;
    if (rank !== noRank) this.#merges.push(rank * placesMax + part);
  }

  #rankFrom(part: number, size: number): number {
    const next = this.#starts[part] as number;
    if (next === size) return noRank;
    return this.#vocabulary.rank(this.bytes, part, this.#starts[next] as number);
  }
}

function lowest(ranks: Int32Array, count: number): number {
  let found = 0;
  for (let part = 1; part < count; part++) {
    if ((ranks[part] as number) < (ranks[found] as number)) found = part;
  }
  return found;
}
