/** The terms of a chunk, with their counts in title, heading and text. */
import { type PieceCharacters, PieceMemory } from '../chunk/token/piece-memory.ts';
import type { Analyzer } from './analysis.ts';
import { isHan, noWord, pairedWord, spacedWord, type WordKind } from './script.ts';

/** The weight of a word in the title, in the heading and in the text. */
const partWeights = [4, 2, 1];
/** Stop words have no postings; they only add to the length of a chunk. */
const noTerm = -1;
/** A word with two terms has the number of its pair, counted down from here. */
const firstPair = -2;
/** Caches of a few megabytes; a job rarely has more languages. */
const languagesMax = 8;

export interface ChunkTerms {
  /** Only the first `size` are valid, until the next call. */
  readonly ids: Int32Array;
  readonly counts: Int32Array;
  readonly size: number;
  /** All words, including stop words. */
  readonly length: number;
}

export class TermReader {
  readonly #analyzer: Analyzer;
  readonly #idOf: (term: string) => number;
  readonly #memories = new Map<string, PieceMemory>();
  readonly #pairs: (readonly [number, number])[] = [];
  /** Per term: its index in the current chunk's list, valid if `#seenIn` matches. */
  #placeOf = new Int32Array(1024);
  #seenIn = new Int32Array(1024);
  #chunk = 0;
  #ids = new Int32Array(1024);
  #counts = new Int32Array(1024);
  #size = 0;

  constructor(analyzer: Analyzer, idOf: (term: string) => number) {
    this.#analyzer = analyzer;
    this.#idOf = idOf;
  }

  read(
    parts: readonly [title: string, heading: string, text: string],
    language: string,
  ): ChunkTerms {
    this.#chunk += 1;
    this.#size = 0;
    let length = 0;
    const words = this.#memoryOf(language);
    for (const [index, part] of parts.entries()) {
      if (part === '') continue;
      length += this.#readPart(words, part.toLowerCase(), partWeights[index] as number);
    }
    return { ids: this.#ids, counts: this.#counts, size: this.#size, length };
  }

  #memoryOf(language: string): PieceMemory {
    const known = this.#memories.get(language);
    if (known) return known;
    if (this.#memories.size === languagesMax) this.#memories.clear();
    const memory = new PieceMemory(({ text }, start, end) => {
      const word = text.slice(start, end);
      const kind = this.#analyzer.splitter.kindOf(word.charCodeAt(0)) as WordKind;
      const [one, other] = this.#analyzer.termsOf(word, kind, language).map(this.#idOf);
      if (one === undefined) return noTerm;
      return other === undefined ? one : firstPair - (this.#pairs.push([one, other]) - 1);
    });
    this.#memories.set(language, memory);
    return memory;
  }

  #readPart(memory: PieceMemory, text: string, weight: number): number {
    const bytes = Buffer.allocUnsafeSlow(text.length * 2);
    bytes.write(text, 'utf16le');
    const codes = new Uint16Array(bytes.buffer);
    const part = { text, codes };
    const { splitter } = this.#analyzer;
    let words = 0;
    let start = 0;
    let before = noWord;
    for (let place = 0; place <= codes.length; place++) {
      const kind = place < codes.length ? splitter.kindOf(codes[place] as number) : noWord;
      if (kind === before) continue;
      if (before === spacedWord) {
        this.#addWord(memory.get(part, start, place), weight);
        words += 1;
      } else if (before !== noWord) {
        const run = { part, start, end: place, isPaired: before === pairedWord };
        words += this.#readRun(memory, run, weight);
      }
      start = place;
      before = kind;
    }
    return words;
  }

  /** Characters without spaces between their words. */
  #readRun(memory: PieceMemory, { part, start, end, isPaired }: WordRun, weight: number): number {
    let words = 0;
    const add = (from: number, to: number): void => {
      this.#addWord(memory.get(part, from, to), weight);
      words += 1;
    };
    if (!isPaired) {
      const { splitter } = this.#analyzer;
      for (const word of splitter.dictionaryWords(part.text, start, end)) add(word.start, word.end);
      return words;
    }
    if (end - start === 1) add(start, end);
    for (let place = start; end - start > 1 && place < end; place++) {
      if (isHan(part.codes[place] as number)) add(place, place + 1);
      if (place + 2 <= end) add(place, place + 2);
    }
    return words;
  }

  #addWord(term: number, weight: number): void {
    if (term >= 0) this.#add(term, weight);
    else if (term <= firstPair) {
      const [one, other] = this.#pairs[firstPair - term] as readonly [number, number];
      this.#add(one, weight);
      this.#add(other, weight);
    }
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

interface WordRun {
  readonly part: PieceCharacters;
  readonly start: number;
  readonly end: number;
  readonly isPaired: boolean;
}
