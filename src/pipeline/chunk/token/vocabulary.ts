/**
 * The tokens of `cl100k_base` by their bytes. A token's number is its rank: the lower it is, the
 * earlier two neighbours are merged into it. All bytes are in one array and the hash table in
 * another: no token is ever a string.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../../kernel/failure/failure.ts';

/** Above every rank: these bytes are not a token. */
export const noRank = 0x7fffffff;

const name = 'gpt-tokenizer/data/cl100k_base.tiktoken';
const tokenCount = 100_256;
const slotCount = 1 << 18;
/** A slot holds the token's rank plus one in these bits, and bits of its hash in the others. */
const rankBits = 0x1ffff;
const [newline, blank, padding] = [10, 32, 61];

export class Vocabulary {
  readonly #bytes: Uint8Array;
  /** The start of each token's bytes, and at the end, the total length. */
  readonly #starts = new Int32Array(tokenCount + 1);
  /** 0 is a free slot. */
  readonly #slots = new Int32Array(slotCount);
  /** The ranks of byte pairs, the most frequent lookup. */
  readonly #pairs = new Int32Array(0x10000).fill(noRank);
  #longest = 0;

  /** `file` has a line per token, by rank: its bytes in Base64, a space, and the rank. */
  constructor(file: Uint8Array) {
    this.#bytes = new Uint8Array(file.length);
    let rank = 0;
    for (let line = 0; line < file.length && rank < tokenCount; rank++) {
      line = this.#read(file, line, rank);
      this.#add(rank);
    }
    if (rank === tokenCount) return;
    const found = `${name} has ${rank} of ${tokenCount} tokens`;
    throw new Failure('internal_error', `${found}: install Pawl's packages again`);
  }

  /** The rank of `bytes.subarray(start, end)`. */
  rank(bytes: Uint8Array, start: number, end: number): number {
    const size = end - start;
    if (size === 2) return this.pairRank(bytes[start] as number, bytes[start + 1] as number);
    if (size > this.#longest) return noRank;
    const hash = hashOf(bytes, start, end);
    for (let slot = hash & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
      const entry = this.#slots[slot] as number;
      if (entry === 0) return noRank;
      if (((entry ^ hash) & ~rankBits) !== 0) continue;
      const rank = (entry & rankBits) - 1;
      const first = this.#starts[rank] as number;
      if ((this.#starts[rank + 1] as number) - first !== size) continue;
      let place = 0;
      while (place < size && this.#bytes[first + place] === bytes[start + place]) place += 1;
      if (place === size) return rank;
    }
  }

  pairRank(first: number, second: number): number {
    return this.#pairs[(first << 8) | second] as number;
  }

  /** Returns the start of the next line. Decoded by hand: Buffer takes three times as long here. */
  #read(file: Uint8Array, line: number, rank: number): number {
    let end = this.#starts[rank] as number;
    let bits = 0;
    let bitCount = 0;
    let place = line;
    for (; place < file.length && file[place] !== blank; place++) {
      if (file[place] === padding) continue;
      bits = ((bits << 6) | (sixBits[file[place] as number] as number)) & 0xffff;
      bitCount += 6;
      if (bitCount < 8) continue;
      bitCount -= 8;
      this.#bytes[end] = bits >> bitCount;
      end += 1;
    }
    this.#starts[rank + 1] = end;
    while (place < file.length && file[place] !== newline) place += 1;
    return place + 1;
  }

  #add(rank: number): void {
    const start = this.#starts[rank] as number;
    const end = this.#starts[rank + 1] as number;
    if (isMarked(this.#bytes, start)) return;
    this.#longest = Math.max(this.#longest, end - start);
    if (end - start === 2) {
      const [first, second] = [this.#bytes[start] as number, this.#bytes[start + 1] as number];
      this.#pairs[(first << 8) | second] = rank;
      return;
    }
    const hash = hashOf(this.#bytes, start, end);
    let slot = hash & (slotCount - 1);
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1);
    this.#slots[slot] = (hash & ~rankBits) | (rank + 1);
  }
}

export function readVocabulary(): Vocabulary {
  return new Vocabulary(readFileSync(fileURLToPath(import.meta.resolve(name))));
}

const sixBits = sixBitsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

function sixBitsOf(alphabet: string): Uint8Array {
  const values = new Uint8Array(256);
  for (const [value, character] of [...alphabet].entries()) {
    values[character.charCodeAt(0)] = value;
  }
  return values;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let place = start; place < end; place++) {
    hash = Math.imul(hash ^ (bytes[place] as number), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

/**
 * The package does not find its own tokens with a byte order mark, and our counts must match it.
 */
function isMarked(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
}
