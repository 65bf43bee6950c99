/**
 * Caches a number per piece of text, such as its token count. A piece is looked up in place by its
 * characters, so that no string is created. A full cache is cleared: frequent pieces are soon back.
 */
import type { Span } from '../block.ts';
import type { Characters } from './characters.ts';

const slotCount = 1 << 17;
/** A fuller table has long probe sequences. */
const piecesMax = slotCount / 2;
/** Longer pieces are rare, and not cached. */
const pieceLengthMax = 32;
const charactersMax = piecesMax * 12;

export type PieceCharacters = Pick<Characters, 'text' | 'codes'>;

type Ask = (characters: PieceCharacters, start: number, end: number) => number;

interface Place {
  readonly slot: number;
  readonly hash: number;
}

export class PieceMemory {
  readonly #ask: Ask;
  /** Per slot: the index of its piece, plus one. */
  readonly #slots = new Int32Array(slotCount);
  readonly #starts = new Int32Array(piecesMax + 1);
  readonly #hashes = new Int32Array(piecesMax);
  readonly #values = new Int32Array(piecesMax);
  readonly #characters = new Uint16Array(charactersMax);
  #size = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The number for `text.slice(start, end)`. */
  get(characters: PieceCharacters, start: number, end: number): number {
    if (end - start > pieceLengthMax) return this.#ask(characters, start, end);
    const { codes } = characters;
    let hash = 0x811c9dc5;
    for (let place = start; place < end; place++) {
      hash = Math.imul(hash ^ (codes[place] as number), 0x01000193);
    }
    hash ^= hash >>> 15;
    let slot = hash & (slotCount - 1);
    for (;;) {
      const piece = (this.#slots[slot] as number) - 1;
      if (piece < 0) return this.#learn(characters, { start, end }, { slot, hash });
      if (this.#hashes[piece] === hash && this.#isSame(piece, codes, { start, end })) {
        return this.#values[piece] as number;
      }
      slot = (slot + 1) & (slotCount - 1);
    }
  }

  #isSame(piece: number, codes: Uint16Array, { start, end }: Span): boolean {
    const first = this.#starts[piece] as number;
    if ((this.#starts[piece + 1] as number) - first !== end - start) return false;
    for (let place = start; place < end; place++) {
      if (this.#characters[first + place - start] !== codes[place]) return false;
    }
    return true;
  }

  #learn(characters: PieceCharacters, { start, end }: Span, { slot, hash }: Place): number {
    const value = this.#ask(characters, start, end);
    const first = this.#starts[this.#size] as number;
    if (this.#size === piecesMax || first + end - start > charactersMax) {
      this.#slots.fill(0);
      this.#size = 0;
      return value;
    }
    for (let place = start; place < end; place++) {
      this.#characters[first + place - start] = characters.codes[place] as number;
    }
    this.#hashes[this.#size] = hash;
    this.#values[this.#size] = value;
    this.#size += 1;
    this.#starts[this.#size] = first + end - start;
    this.#slots[slot] = this.#size;
    return value;
  }
}
