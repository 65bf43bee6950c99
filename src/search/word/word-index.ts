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
}

interface Portion {
  readonly first: number;
  readonly count: number;
  readonly allowed: PlaceFilter | undefined;
}

export interface WordSearch {
  /** As stems, as `termOf` returns them. */
  readonly terms: readonly string[];
  readonly size: number;
  readonly allowed?: PlaceFilter | undefined;
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

  /** `only` restricts the index to these terms. */
  constructor(only?: readonly string[]) {
    this.#wanted = only && toWanted(only);
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

  /** The number of chunks with the term. Removed chunks count until the next rebuild. */
  chunksWith(term: string): number {
    const number = this.#terms.find(termKeyOf(term));
    return number === undefined ? 0 : this.#postings.countOf(number);
  }

  /** Replaces what the document had before. */
  put(documentId: string, generationId: number, packed: Uint8Array): void {
    this.remove(documentId);
    this.#dampings = new Float32Array(0);
    const start = this.#runOf.length;
    const blocks = [...blocksOf(packed)];
    const count = blocks.reduce((sum, { chunks }) => sum + chunks, 0);
    if (start + count > slotsMax) {
      throw new Failure('index_full', 'the words of this corpus do not fit into memory');
    }
    const run = { documentId, generationId, start, count };
    this.#byDocument.set(documentId, run);
    for (const block of blocks) this.#append(run, block);
    this.#live += count;
  }

  remove(documentId: string): void {
    const run = this.#byDocument.get(documentId);
    if (!run) return;
    this.#byDocument.delete(documentId);
    this.#dampings = new Float32Array(0);
    for (let slot = run.start; slot < run.start + run.count; slot++) {
      this.#runOf[slot] = undefined;
      this.#totalLength -= this.#lengths[slot] as number;
    }
    this.#live -= run.count;
    const holes = this.#runOf.length - this.#live;
    if (holes > Math.max(this.#live / 4, 1000)) this.#closeHoles();
  }

  /** The chunks with any of the terms, best first; of equal ones the older first. */
  search({ terms, size, allowed }: WordSearch): VectorHit[] {
    const slots = this.#runOf.length;
    if (this.#scores.length < slots) this.#scores = new Float32Array(slots + (slots >> 2));
    const scores = this.#scores.fill(0, 0, slots);
    if (this.#dampings.length !== slots) this.#dampings = this.#newDampings();
    for (const term of new Set(terms)) this.#addScores(term, scores);
    const top = new Top(size, (slot, other) => this.#isLater(slot, other));
    if (allowed && areFew(allowed, this.#byDocument.size)) {
      for (const id of allowed.documents.keys()) {
        const run = this.#byDocument.get(id);
        if (run) this.#offer(top, { first: run.start, count: run.count, allowed });
      }
    } else this.#offer(top, { first: 0, count: slots, allowed });
    return top.sorted().map(({ slot, score }) => {
      const { documentId, generationId, ordinal } = this.#placeOf(slot);
      return { documentId, generationId, ordinal, score };
    });
  }

  #offer(top: Top, { first, count, allowed }: Portion): void {
    const scores = this.#scores;
    // Chunks with none of the terms are not found.
    let threshold = Math.max(Number.MIN_VALUE, top.threshold);
    for (let slot = first; slot < first + count; slot++) {
      const score = scores[slot] as number;
      if (score < threshold || !this.#runOf[slot]) continue;
      if (allowed && !allowed.isAllowed(this.#placeOf(slot))) continue;
      top.offer(slot, score);
      threshold = Math.max(threshold, top.threshold);
    }
  }

  #addScores(term: string, scores: Float32Array): void {
    const id = this.#terms.find(termKeyOf(term));
    if (id === undefined) return;
    const total = this.#runOf.length;
    const found = this.#postings.countOf(id);
    const rarity = Math.log1p((total - found + 0.5) / (found + 0.5)) * (saturation + 1);
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
