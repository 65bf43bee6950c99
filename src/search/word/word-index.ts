/**
 * The words of one corpus of one caller, in memory: for each term its chunks. A search adds up the
 * BM25 scores of all chunks, term by term, so its result is exact. A chunk has a slot; slots of
 * removed documents stay as holes, and when there are many, the index is rebuilt.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import {
  type Block,
  blocksOf,
  countBits,
  countMax,
  endOf,
  termKeyOf,
  termsAmong,
  toWanted,
  type Wanted,
} from '../../pipeline/word/packed-words.ts';
import { areFew, type PlaceFilter, type VectorHit, type VectorPlace } from '../vector/partition.ts';
import { Top } from '../vector/top.ts';
import { Postings } from './postings.ts';
import { TermTable } from './term-table.ts';

/** BM25 parameters: k1 (term saturation) and b (length normalization). */
const saturation = 1.2;
const lengthShare = 0.75;
/** Postings as in packed words, with a slot instead of the chunk's position in its block. */
const slotsMax = 2 ** (31 - countBits);

interface Run {
  readonly documentId: string;
  readonly generationId: number;
  readonly start: number;
  readonly count: number;
  readonly language: string;
}

/** A term, or the terms that one word may have in the languages of the corpus. */
export type Sought = string | readonly string[];

export interface WordSearch {
  /** As the analysis returns them. */
  readonly terms: readonly Sought[];
  /** A chunk must have each of these, and none of the excluded ones. */
  readonly required?: readonly Sought[] | undefined;
  readonly excluded?: readonly Sought[] | undefined;
  readonly size: number;
  /** False: neither `matched` nor `generations` is needed. */
  readonly isCounted?: boolean | undefined;
  readonly allowed?: PlaceFilter | undefined;
}

/** What a search collects from the slots that it looks at. */
interface Tally {
  readonly top: Top;
  readonly isCounted: boolean;
  readonly isFit: ((slot: number) => boolean) | undefined;
  readonly allowed: PlaceFilter | undefined;
  readonly generations: Set<number>;
  matched: number;
}

export interface WordsFound {
  /** Best first; of equal ones the older first. */
  readonly hits: VectorHit[];
  /** How many chunks have any of the terms. */
  readonly matched: number;
  /** Their generations. */
  readonly generations: ReadonlySet<number>;
  /** No chunk can have a higher score for these terms. */
  readonly bound: number;
}

export class WordIndex {
  #postings = new Postings();
  readonly #terms = new TermTable();
  /** If present, only these terms are indexed. */
  readonly #wanted: Wanted | undefined;
  readonly #byDocument = new Map<string, Run>();
  #runOf: (Run | undefined)[] = [];
  #ordinals: number[] = [];
  #lengths: number[] = [];
  /** Per slot: the length normalization of its words; recomputed after a change. */
  #dampings = new Float32Array(0);
  #totalLength = 0;
  #live = 0;
  #scores = new Float32Array(1024);
  /** Chunks by the language in which their words were analyzed. */
  readonly #languages = new Map<string, number>();

  /** `only` restricts the index to these terms. */
  constructor(only?: readonly string[]) {
    this.#wanted = only && toWanted(only);
  }

  /** Whether every term of its chunks is indexed. */
  get isWhole(): boolean {
    return this.#wanted === undefined;
  }

  get size(): number {
    return this.#live;
  }

  /** An estimate, without the names of the terms. */
  get heldBytes(): number {
    return this.#postings.heldBytes + this.#runOf.length * 24 + this.#scores.length * 4;
  }

  documentIds(): string[] {
    return [...this.#byDocument.keys()];
  }

  generationOf(documentId: string): number | undefined {
    return this.#byDocument.get(documentId)?.generationId;
  }

  /** The languages in which the words were analyzed. */
  get languages(): readonly string[] {
    return [...this.#languages.keys()];
  }

  /** The number of chunks with the term. Removed chunks count until the next rebuild. */
  chunksWith(term: string): number {
    const number = this.#terms.find(termKeyOf(term));
    return number === undefined ? 0 : this.#postings.countOf(number);
  }

  /** Replaces what the document had before. */
  put(documentId: string, generationId: number, packed: Uint8Array, language = 'en'): void {
    this.remove(documentId);
    this.#dampings = new Float32Array(0);
    const start = this.#runOf.length;
    const blocks = [...blocksOf(packed)];
    const count = blocks.reduce((sum, { chunks }) => sum + chunks, 0);
    if (start + count > slotsMax) {
      throw new Failure('index_full', 'the words of this corpus do not fit into memory');
    }
    const run = { documentId, generationId, start, count, language };
    this.#byDocument.set(documentId, run);
    this.#countLanguage(language, count);
    for (const block of blocks) this.#append(run, block);
    this.#live += count;
  }

  remove(documentId: string): void {
    const run = this.#byDocument.get(documentId);
    if (!run) return;
    this.#byDocument.delete(documentId);
    this.#countLanguage(run.language, -run.count);
    this.#dampings = new Float32Array(0);
    for (let slot = run.start; slot < run.start + run.count; slot++) {
      this.#runOf[slot] = undefined;
      this.#totalLength -= this.#lengths[slot] as number;
    }
    this.#live -= run.count;
    const holes = this.#runOf.length - this.#live;
    if (holes > Math.max(this.#live / 4, 1000)) this.#closeHoles();
  }

  #countLanguage(language: string, chunks: number): void {
    const count = (this.#languages.get(language) ?? 0) + chunks;
    if (count > 0) this.#languages.set(language, count);
    else this.#languages.delete(language);
  }

  /** The chunks with any of the terms, best first; of equal ones the older first. */
  search(search: WordSearch): VectorHit[] {
    return this.find(search).hits;
  }

  find(search: WordSearch): WordsFound {
    const { terms, required = [], excluded = [], size, allowed, isCounted = true } = search;
    const slots = this.#runOf.length;
    if (this.#scores.length < slots) this.#scores = new Float32Array(slots + (slots >> 2));
    const scores = this.#scores.fill(0, 0, slots);
    if (this.#dampings.length !== slots) this.#dampings = this.#newDampings();
    let bound = 0;
    for (const term of new Set(terms)) bound += this.#addScores(term, scores);
    const isFit = this.#fitness(required, excluded);
    const top = new Top(size, (slot, other) => this.#isLater(slot, other));
    const tally: Tally = { top, isCounted, isFit, allowed, matched: 0, generations: new Set() };
    if (allowed && areFew(allowed, this.#byDocument.size)) {
      for (const id of allowed.documents.keys()) {
        const run = this.#byDocument.get(id);
        if (run) this.#offer(tally, run.start, run.count);
      }
    } else this.#offer(tally, 0, slots);
    const { matched, generations } = tally;
    const hits = top.sorted().map(({ slot, score }) => {
      const { documentId, generationId, ordinal } = this.#placeOf(slot);
      return { documentId, generationId, ordinal, score };
    });
    return { hits, matched, generations, bound };
  }

  #offer(tally: Tally, first: number, count: number): void {
    const { top, isCounted, isFit, allowed, generations } = tally;
    const scores = this.#scores;
    let threshold = top.threshold;
    let last: Run | undefined;
    for (let slot = first; slot < first + count; slot++) {
      const score = scores[slot] as number;
      // Chunks with none of the terms are not found.
      if (score <= 0 || (!isCounted && score < threshold)) continue;
      const run = this.#runOf[slot];
      if (!run || (isFit && !isFit(slot))) continue;
      if (allowed && !allowed.isAllowed(this.#placeOf(slot))) continue;
      tally.matched += 1;
      if (run !== last) generations.add(run.generationId);
      last = run;
      if (score < threshold) continue;
      top.offer(slot, score);
      threshold = top.threshold;
    }
  }

  /** Adds the scores of the chunks with the term. Returns the highest possible one. */
  #addScores(term: Sought, scores: Float32Array): number {
    if (typeof term !== 'string' && term.length !== 1) return this.#addAlternatives(term, scores);
    const id = this.#idOf(term);
    const found = id === undefined ? 0 : this.#postings.countOf(id);
    const rarity = this.#rarityOf(found);
    if (id === undefined) return rarity;
    const dampings = this.#dampings;
    this.#postings.read(id, (page, start, end) => {
      for (let place = start; place < end; place++) {
        const posting = page[place] as number;
        const slot = posting >>> countBits;
        const count = posting & countMax;
        const damped = (rarity * count) / (count + (dampings[slot] as number));
        scores[slot] = (scores[slot] as number) + damped;
      }
    });
    return rarity;
  }

  #idOf(term: Sought): number | undefined {
    const name = typeof term === 'string' ? term : term[0];
    return name === undefined ? undefined : this.#terms.find(termKeyOf(name));
  }

  /** Alternatives count as one term: a chunk has the highest of their counts. */
  #addAlternatives(terms: readonly string[], scores: Float32Array): number {
    const counts = this.#countsOf(terms);
    const rarity = this.#rarityOf(counts.size);
    for (const [slot, count] of counts) {
      const damped = (rarity * count) / (count + (this.#dampings[slot] as number));
      scores[slot] = (scores[slot] as number) + damped;
    }
    return rarity;
  }

  #countsOf(terms: readonly string[]): Map<number, number> {
    const counts = new Map<number, number>();
    for (const term of terms) {
      const id = this.#idOf(term);
      if (id === undefined) continue;
      this.#postings.read(id, (page, start, end) => {
        for (let place = start; place < end; place++) {
          const posting = page[place] as number;
          const slot = posting >>> countBits;
          const count = posting & countMax;
          if (count > (counts.get(slot) ?? 0)) counts.set(slot, count);
        }
      });
    }
    return counts;
  }

  /** BM25's weight of a term, times the limit of its saturation. */
  #rarityOf(found: number): number {
    const total = this.#runOf.length;
    return Math.log1p((total - found + 0.5) / (found + 0.5)) * (saturation + 1);
  }

  /** Whether a chunk has all required and no excluded terms; undefined if there are none. */
  #fitness(
    required: readonly Sought[],
    excluded: readonly Sought[],
  ): ((slot: number) => boolean) | undefined {
    if (required.length + excluded.length === 0) return undefined;
    const slotsWith = (term: Sought) => this.#countsOf(typeof term === 'string' ? [term] : term);
    const needed = required.map(slotsWith);
    const barred = excluded.map(slotsWith);
    return (slot) => needed.every((has) => has.has(slot)) && !barred.some((has) => has.has(slot));
  }

  #newDampings(): Float32Array<ArrayBuffer> {
    const fixed = saturation * (1 - lengthShare);
    const perWord = (saturation * lengthShare * this.#live) / Math.max(this.#totalLength, 1);
    return Float32Array.from(this.#lengths, (length) => fixed + perWord * length);
  }

  #append(run: Run, block: Block): void {
    const { words, ordinalsAt, lengthsAt, chunks } = block;
    const first = this.#runOf.length;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const length = words[lengthsAt + chunk] as number;
      this.#runOf.push(run);
      this.#ordinals.push(words[ordinalsAt + chunk] as number);
      this.#lengths.push(length);
      this.#totalLength += length;
    }
    if (!this.#wanted) {
      for (let term = 0; term < block.terms; term++) this.#post(first, block, term);
    } else {
      for (const term of termsAmong(block, this.#wanted)) this.#post(first, block, term);
    }
  }

  #post(first: number, block: Block, term: number): void {
    const { words, hashesAt, bytes, checksAt, halves, startsAt, postingsAt } = block;
    const hash = words[hashesAt + term] as number;
    const number = this.#terms.numberOf(hash, bytes[checksAt + term] as number);
    const end = postingsAt + endOf(block, term);
    for (let at = postingsAt + (halves[startsAt + term] as number); at < end; at++) {
      this.#postings.add(number, (first << countBits) + (halves[at] as number));
    }
  }

  #closeHoles(): void {
    const newSlot = new Int32Array(this.#runOf.length).fill(-1);
    let next = 0;
    const runs = [...this.#byDocument.values()].sort((a, b) => a.start - b.start);
    const [ordinals, lengths, runOf]: [number[], number[], Run[]] = [[], [], []];
    for (const run of runs) {
      const moved = { ...run, start: next };
      this.#byDocument.set(run.documentId, moved);
      for (let slot = run.start; slot < run.start + run.count; slot++) {
        newSlot[slot] = next++;
        ordinals.push(this.#ordinals[slot] as number);
        lengths.push(this.#lengths[slot] as number);
        runOf.push(moved);
      }
    }
    const postings = new Postings();
    for (let id = 0; id < this.#terms.size; id++) {
      this.#postings.read(id, (page, start, end) => {
        for (let place = start; place < end; place++) {
          const posting = page[place] as number;
          const slot = newSlot[posting >>> countBits] as number;
          if (slot >= 0) postings.add(id, (slot << countBits) | (posting & countMax));
        }
      });
    }
    this.#postings = postings;
    [this.#ordinals, this.#lengths, this.#runOf] = [ordinals, lengths, runOf];
  }

  #placeOf(slot: number): VectorPlace {
    const { documentId, generationId } = this.#runOf[slot] as Run;
    return { documentId, generationId, ordinal: this.#ordinals[slot] as number };
  }

  #isLater(slot: number, other: number): boolean {
    const [one, two] = [this.#placeOf(slot), this.#placeOf(other)];
    const difference = one.generationId - two.generationId;
    return difference > 0 || (difference === 0 && one.ordinal > two.ordinal);
  }
}
