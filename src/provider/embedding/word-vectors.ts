/**
 * The table of word vectors that is shipped with Pawl, read in place from its bytes:
 *
 *   magic "PAWLWORD", version, words, dimensions, nothing: 8 + 4 × 4 bytes, little endian
 *   fingerprints     two 32-bit hashes of each word, frequent words first
 *   scales           a 32-bit float for each word: its weight and the step of its bytes, as one
 *   components       `dimensions` signed bytes for each word
 *
 * Words are known by their two hashes: 64 bits for 100,000 of them leave no room for a mistake, and
 * nothing has to be decoded. `scripts/build-word-vectors.ts` writes the file.
 */
import { readFileSync } from 'node:fs';
import { Failure } from '../../kernel/failure/failure.ts';

const magic = 'PAWLWORD';
const version = 1;
const headerBytes = 24;

export interface WordEntry {
  readonly word: string;
  /** Multiplied by the word's weight. */
  readonly vector: Float64Array;
}

export class WordVectors {
  readonly dimensions: number;
  readonly count: number;
  readonly scales: Float32Array;
  readonly components: Int8Array;
  readonly #fingerprints: Uint32Array;
  /** Open addressing: the index of a word plus one, or 0. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(bytes: Uint8Array) {
    const header = new DataView(bytes.buffer, bytes.byteOffset, headerBytes);
    this.count = header.getUint32(12, true);
    this.dimensions = header.getUint32(16, true);
    const { count, dimensions } = this;
    const { buffer } = bytes;
    let offset = bytes.byteOffset + headerBytes;
    this.#fingerprints = new Uint32Array(buffer, offset, count * 2);
    offset += count * 8;
    this.scales = new Float32Array(buffer, offset, count);
    offset += count * 4;
    this.components = new Int8Array(buffer, offset, count * dimensions);
    this.#mask = 2 ** Math.ceil(Math.log2(count * 2)) - 1;
    this.#slots = new Int32Array(this.#mask + 1);
    for (let word = 0; word < count; word++) {
      let slot = (this.#fingerprints[word * 2] as number) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = word + 1;
    }
  }

  /** The index of a word, or -1. */
  find(first: number, second: number): number {
    for (let slot = first & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const word = (this.#slots[slot] as number) - 1;
      if (word < 0) return -1;
      const isSame = this.#fingerprints[word * 2] === first;
      if (isSame && this.#fingerprints[word * 2 + 1] === second) return word;
    }
  }
}

export function readWordVectors(path: string | URL): WordVectors {
  // A separate buffer is aligned for typed arrays.
  const bytes = new Uint8Array(readFileSync(path));
  const found = bytes.length < headerBytes ? '' : String.fromCharCode(...bytes.subarray(0, 8));
  const header = new DataView(bytes.buffer, bytes.byteOffset);
  if (found !== magic || header.getUint32(8, true) !== version) {
    throw new Failure('internal_error', `${String(path)} is no table of word vectors: reinstall`);
  }
  const expected = headerBytes + header.getUint32(12, true) * (12 + header.getUint32(16, true));
  if (bytes.length === expected) return new WordVectors(bytes);
  const sizes = `${bytes.length} of ${expected} bytes`;
  throw new Failure('internal_error', `${String(path)} is cut short, ${sizes}: reinstall`);
}

/** The file's bytes. */
export function writeWordVectors(entries: readonly WordEntry[], dimensions: number): Uint8Array {
  const count = entries.length;
  const bytes = new Uint8Array(headerBytes + count * (12 + dimensions));
  const view = new DataView(bytes.buffer);
  new TextEncoder().encodeInto(magic, bytes);
  [version, count, dimensions, 0].forEach((value, index) => {
    view.setUint32(8 + index * 4, value, true);
  });
  entries.forEach(({ word, vector }, index) => {
    view.setUint32(headerBytes + index * 8, hashOf(word, firstSeed), true);
    view.setUint32(headerBytes + index * 8 + 4, hashOf(word, secondSeed), true);
    const step = Math.max(...vector.map(Math.abs), Number.MIN_VALUE) / 127;
    view.setFloat32(headerBytes + count * 8 + index * 4, step, true);
    const start = headerBytes + count * 12 + index * dimensions;
    vector.forEach((value, place) => {
      view.setInt8(start + place, Math.round(value / step));
    });
  });
  return bytes;
}

export const firstSeed = 0x811c9dc5;
export const secondSeed = 0x2545f491;

/** FNV-1a over UTF-16 with a final mix, so that the low bits depend on all letters. */
export function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mix(hash);
}

export function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  return mixed >>> 0;
}
