/** The terms of a chunk, with their counts in title, heading and text. */
import { wordCodes } from '../../kernel/text/word-characters.ts';
import { PieceMemory } from '../chunk/token/piece-memory.ts';
import { isStopWord, termOf } from './terms.ts';

/** The weight of a word in the title, in the heading and in the text. */
const partWeights = [4, 2, 1];
/** Stop words have no postings; they only add to the length of a chunk. */
const noTerm = -1;

export interface ChunkTerms {
  /** Only the first `size` are valid, until the next call. */
  readonly ids: Int32Array;
  readonly counts: Int32Array;
  readonly size: number;
  /** All words, including stop words. */
  readonly length: number;
}

export class TermReader {
  readonly #isWord = wordCodes();
  readonly #words: PieceMemory;
  /** Per term: its index in the current chunk's list, valid if `#seenIn` matches. */
  #placeOf = new Int32Array(1024);
  #seenIn = new Int32Array(1024);
  #chunk = 0;
  #ids = new Int32Array(1024);
  #counts = new Int32Array(1024);
  #size = 0;

  constructor(idOf: (term: string) => number) {
    this.#words = new PieceMemory(({ text }, start, end) => {
      const word = text.slice(start, end);
      return isStopWord(word) ? noTerm : idOf(termOf(word));
    });
  }

  read(parts: readonly [title: string, heading: string, text: string]): ChunkTerms {
    this.#chunk += 1;
    this.#size = 0;
    let length = 0;
    for (const [index, part] of parts.entries()) {
      if (part !== '') length += this.#readPart(part.toLowerCase(), partWeights[index] as number);
    }
    return { ids: this.#ids, counts: this.#counts, size: this.#size, length };
  }

  #readPart(text: string, weight: number): number {
    const bytes = Buffer.allocUnsafeSlow(text.length * 2);
    bytes.write(text, 'utf16le');
    const codes = new Uint16Array(bytes.buffer);
    const part = { text, codes };
    let words = 0;
    let start = -1;
    for (let place = 0; place <= codes.length; place++) {
      if (place < codes.length && this.#isWord(codes[place] as number)) {
        if (start < 0) start = place;
      } else if (start >= 0) {
        const term = this.#words.get(part, start, place);
        if (term !== noTerm) this.#add(term, weight);
        words += 1;
        start = -1;
      }
    }
    return words;
  }

  #add(term: number, weight: number): void {
    if (term >= this.#placeOf.length) {
      const size = Math.max(term + 1, this.#placeOf.length * 2);
      [this.#placeOf, this.#seenIn] = [widened(this.#placeOf, size), widened(this.#seenIn, size)];
    }
    if (this.#seenIn[term] === this.#chunk) {
      const place = this.#placeOf[term] as number;
      this.#counts[place] = (this.#counts[place] as number) + weight;
      return;
    }
    if (this.#size === this.#ids.length) {
      const size = this.#size * 2;
      [this.#ids, this.#counts] = [widened(this.#ids, size), widened(this.#counts, size)];
    }
    this.#seenIn[term] = this.#chunk;
    this.#placeOf[term] = this.#size;
    this.#ids[this.#size] = term;
    this.#counts[this.#size] = weight;
    this.#size += 1;
  }
}

function widened(values: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(size);
  wider.set(values);
  return wider;
}
