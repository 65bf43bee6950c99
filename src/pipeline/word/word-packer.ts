/** Packs the words of documents, with a cache of known words. */
import { Analyzer, fallbackLanguage } from './analysis.ts';
import {
  chunksMax,
  countBits,
  countMax,
  packBlock,
  postingsMax,
  type TermKey,
  termKeyOf,
} from './packed-words.ts';
import { TermReader } from './term-reader.ts';

export interface WordRow {
  readonly ordinal: number;
  readonly heading: string;
  readonly text: string;
}

/** The size of the cache. */
const rememberedMax = 100_000;
/** Sorts by hash with the term number in the low bits: both fit into one number. */
const numbersMax = 2 ** 20;

export class WordPacker {
  #keys: TermKey[] = [];
  #ids = new Map<string, number>();
  readonly #analyzer = new Analyzer();
  #reader = this.#newReader();

  pack(title: string, rows: readonly WordRow[], language = fallbackLanguage): Uint8Array {
    if (this.#keys.length > rememberedMax) this.#forget();
    const blocks: Uint8Array[] = [];
    let block = new Entries();
    for (const { ordinal, heading, text } of rows) {
      const { ids, counts, size, length } = this.#reader.read([title, heading, text], language);
      if (!block.hasRoomFor(size)) {
        blocks.push(block.packed(this.#keys));
        block = new Entries();
      }
      block.addChunk(ordinal, length);
      // No real text has more distinct terms than a block can hold.
      for (let index = 0; index < Math.min(size, postingsMax); index++) {
        block.add(ids[index] as number, counts[index] as number);
      }
    }
    blocks.push(block.packed(this.#keys));
    return Buffer.concat(blocks);
  }

  #newReader(): TermReader {
    return new TermReader(this.#analyzer, (term) => {
      const known = this.#ids.get(term);
      if (known !== undefined) return known;
      this.#ids.set(term, this.#keys.length);
      return this.#keys.push(termKeyOf(term)) - 1;
    });
  }

  #forget(): void {
    this.#keys = [];
    this.#ids = new Map();
    this.#reader = this.#newReader();
  }
}

/** The content of a block, in reading order. */
class Entries {
  readonly #ordinals: number[] = [];
  readonly #lengths: number[] = [];
  /** The terms by their index in this block. */
  readonly #ids: number[] = [];
  readonly #numberOf = new Map<number, number>();
  readonly #counts: number[] = [];
  readonly #terms: number[] = [];
  readonly #postings: number[] = [];

  hasRoomFor(size: number): boolean {
    const isFull = this.#ordinals.length === chunksMax;
    return this.#ordinals.length === 0 || (!isFull && this.#terms.length + size <= postingsMax);
  }

  addChunk(ordinal: number, length: number): void {
    this.#ordinals.push(ordinal);
    this.#lengths.push(length);
  }

  /** Adds the count of a term in the last chunk. */
  add(id: number, count: number): void {
    let term = this.#numberOf.get(id);
    if (term === undefined) {
      term = this.#ids.push(id) - 1;
      this.#numberOf.set(id, term);
      this.#counts.push(0);
    }
    this.#counts[term] = (this.#counts[term] as number) + 1;
    this.#terms.push(term);
    this.#postings.push(((this.#ordinals.length - 1) << countBits) | Math.min(count, countMax));
  }

  packed(keys: readonly TermKey[]): Uint8Array {
    const keyOf = (term: number) => keys[this.#ids[term] as number] as TermKey;
    const order = Float64Array.from(this.#ids, (_, term) => keyOf(term).hash * numbersMax + term)
      .sort()
      .map((value) => value % numbersMax);
    const starts = new Uint16Array(order.length);
    const next = new Uint32Array(order.length);
    let start = 0;
    order.forEach((term, place) => {
      starts[place] = start;
      next[term] = start;
      start += this.#counts[term] as number;
    });
    const postings = new Uint16Array(this.#postings.length);
    this.#postings.forEach((posting, place) => {
      const term = this.#terms[place] as number;
      postings[next[term] as number] = posting;
      next[term] = (next[term] as number) + 1;
    });
    const terms = Array.from(order, keyOf);
    return packBlock({
      ordinals: this.#ordinals,
      lengths: this.#lengths,
      terms,
      starts,
      postings,
    });
  }
}
