/**
 * The memory in which vectors are scanned: one WebAssembly memory in blocks of a page each,
 * allocated to partitions and freed. The first page holds the query and the scores of one block.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { newMemory, plainScan, type Scan, simdScan } from './kernel.ts';

export const blockBytes = 64 * 1024;
const queryStart = 0;
const scoresStart = 32 * 1024;
const scoresMax = (blockBytes - scoresStart) / 4;
/** The dimensions that fit before the scores, at two bytes each. */
const dimensionsMax = scoresStart / 2;

export interface Query {
  /** Padded with zeros to the size of a slot. */
  readonly words: Int16Array;
  /** Multiplied by a dot product and the other vector's inverse length, it gives the cosine. */
  readonly inverseLength: number;
}

/** The kernel takes 32 dimensions at a time; shorter vectors are padded with zeros. */
export function slotBytesOf(dimensions: number): number {
  if (dimensions <= dimensionsMax) return Math.ceil(dimensions / 32) * 32;
  throw new Failure('bad_request', `a vector has up to ${dimensionsMax} dimensions`);
}

/** Scaled to 16 bits, within the range of the kernel's 32-bit sums. */
export function toQuery(vector: ArrayLike<number>): Query {
  const words = new Int16Array(slotBytesOf(vector.length));
  let largest = 0;
  for (let place = 0; place < vector.length; place++) {
    largest = Math.max(largest, Math.abs(vector[place] as number));
  }
  const bound = Math.min(32_767, Math.floor(2 ** 31 / (128 * words.length)) - 1);
  const exact = bound / (largest || 1);
  // An integer factor keeps integers exact.
  const factor = exact >= 1 ? Math.floor(exact) : exact;
  let sum = 0;
  for (let place = 0; place < vector.length; place++) {
    const word = Math.round((vector[place] as number) * factor);
    words[place] = word;
    sum += word * word;
  }
  return { words, inverseLength: sum === 0 ? 0 : 1 / Math.sqrt(sum) };
}

export class Arena {
  readonly isSimd: boolean;
  readonly #memory = newMemory();
  readonly #scan: Scan;
  readonly #free: number[] = [];
  #bytes: Int8Array;
  #scores: Int32Array;

  constructor({ simd = true }: { simd?: boolean } = {}) {
    const fast = simd ? simdScan(this.#memory) : undefined;
    this.isSimd = fast !== undefined;
    this.#scan = fast ?? plainScan(this.#memory);
    this.#bytes = new Int8Array(this.#memory.buffer);
    this.#scores = new Int32Array(this.#memory.buffer, scoresStart, scoresMax);
  }

  /** The bytes of all vectors. Growing replaces the buffer: read it again after `take`. */
  get bytes(): Int8Array {
    return this.#bytes;
  }

  /** Allocated bytes, used or free. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** The address of an empty block. */
  take(): number {
    if (this.#free.length === 0) this.#grow();
    return this.#free.pop() as number;
  }

  give(blocks: readonly number[]): void {
    for (const block of blocks) this.#free.push(block);
  }

  setQuery(query: Query): void {
    new Int16Array(this.#memory.buffer, queryStart, query.words.length).set(query.words);
  }

  /** The dot products of the query with vectors of a block; valid until the next call. */
  scan(address: number, count: number, slotBytes: number): Int32Array {
    this.#scan(address, count, queryStart, queryStart + slotBytes * 2, scoresStart);
    return this.#scores;
  }

  #grow(): void {
    const pages = this.#bytes.length / blockBytes;
    const added = Math.max(16, pages >> 3);
    if ((pages + added) * blockBytes > limits.search.mirrorBytesMax) {
      throw new Failure('index_full', 'the vectors of this corpus do not fit into memory');
    }
    this.#memory.grow(added);
    this.#bytes = new Int8Array(this.#memory.buffer);
    this.#scores = new Int32Array(this.#memory.buffer, scoresStart, scoresMax);
    for (let page = pages + added - 1; page >= pages; page--) this.#free.push(page * blockBytes);
  }
}
