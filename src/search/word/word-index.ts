/**
 * The words of one corpus of one caller, in memory: for each term its chunks. A search adds up the
 * BM25 scores of all chunks and of their documents, term by term, so its result is exact. A chunk
 * has a slot; slots of removed documents stay as holes, and when there are many, the index is
 * rebuilt.
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
import type { Saveable } from '../saved/saveable.ts';
import { bytesOf, readRows, rowPieces, type Source } from '../saved/saved-file.ts';
import { areFew, type VectorHit, type VectorPlace } from '../vector/partition.ts';
import { Top } from '../vector/top.ts';
import { type Damping, Lengths, saturation } from './lengths.ts';
import { Postings } from './postings.ts';
import { TermTable } from './term-table.ts';
import type { Sought, Tally, WordSearch, WordsFound } from './word-search.ts';

/** How much of the score of a chunk is that of its document, as if it were one chunk. */
const documentShare = 0.3;
/** Postings as in packed words, with a slot instead of the chunk's position in its block. */
const slotsMax = 2 ** (31 - countBits);

/** The consecutive slots of a document. */
interface Run {
  readonly number: number;
  readonly documentId: string;
  readonly generationId: number;
  readonly start: number;
  readonly count: number;
  readonly language: string;
}

export class WordIndex implements Saveable {
  #postings = new Postings();
  #terms = new TermTable();
  /** If present, only these terms are indexed. */
  readonly #wanted: Wanted | undefined;
  readonly #byDocument = new Map<string, Run>();
  #runOf: (Run | undefined)[] = [];
  #ordinals: number[] = [];
  #lengths = new Lengths();
  #live = 0;
  #version = 0;
  #scores = new Float32Array(1024);
  #documentScores = new Float32Array(1024);
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

  get version(): number {
    return this.#version;
  }

  /** An estimate, without the names of the terms. */
  get heldBytes(): number {
    const scores = (this.#scores.length + this.#documentScores.length) * 4;
    const places = this.#runOf.length * 16;
    return this.#postings.heldBytes + this.#lengths.heldBytes + places + scores;
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
    this.#version += 1;
    const start = this.#runOf.length;
    const blocks = [...blocksOf(packed)];
    const count = blocks.reduce((sum, { chunks }) => sum + chunks, 0);
    if (start + count > slotsMax) {
      throw new Failure('index_full', 'the words of this corpus do not fit into memory');
    }
    const number = this.#lengths.addDocument();
    const run = { number, documentId, generationId, start, count, language };
    this.#byDocument.set(documentId, run);
    this.#countLanguage(language, count);
    for (const block of blocks) this.#append(run, block);
    this.#live += count;
  }

  remove(documentId: string): void {
    const run = this.#byDocument.get(documentId);
    if (!run) return;
    this.#version += 1;
    this.#byDocument.delete(documentId);
    this.#countLanguage(run.language, -run.count);
    this.#lengths.remove(run);
    for (let slot = run.start; slot < run.start + run.count; slot++) this.#runOf[slot] = undefined;
    this.#live -= run.count;
    const holes = this.#runOf.length - this.#live;
    if (holes > Math.max(this.#live / 4, 1000)) this.#closeHoles();
  }

  *pieces(): Generator<Uint8Array> {
    yield* rowPieces([...this.#byDocument.values()]);
    yield* rowPieces([this.#ordinals.length]);
    yield bytesOf(Uint32Array.from(this.#ordinals));
    yield* this.#lengths.pieces();
    yield* this.#terms.pieces();
    yield* this.#postings.pieces(this.#terms.size);
  }

  async restore(source: Source): Promise<void> {
    const runs = await readRows<Run>(source);
    const [slots = 0] = await readRows<number>(source);
    const ordinals = new Uint32Array(slots);
    await source.fill(bytesOf(ordinals));
    this.#ordinals = Array.from(ordinals);
    this.#runOf = new Array(slots).fill(undefined);
    for (const run of runs) {
      this.#byDocument.set(run.documentId, run);
      this.#countLanguage(run.language, run.count);
      this.#runOf.fill(run, run.start, run.start + run.count);
      this.#live += run.count;
    }
    this.#lengths = await Lengths.read(source);
    this.#terms = await TermTable.read(source);
    this.#postings = await Postings.read(source);
  }

  #countLanguage(language: string, chunks: number): void {
    const count = (this.#languages.get(language) ?? 0) + chunks;
    if (count > 0) this.#languages.set(language, count);
    else this.#languages.delete(language);
  }

  search(search: WordSearch): VectorHit[] {
    return this.find(search).hits;
  }

  find(search: WordSearch): WordsFound {
    const { required = [], excluded = [], size, allowed, isCounted = true } = search;
    const slots = this.#runOf.length;
    const bound = this.#scoreAll(search);
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

  /** Adds the scores of all terms. Returns the highest possible sum. */
  #scoreAll({ terms, weights }: WordSearch): number {
    const [slots, documents] = [this.#runOf.length, this.#lengths.documents];
    if (this.#scores.length < slots) this.#scores = new Float32Array(slots + (slots >> 2));
    if (this.#documentScores.length < documents) {
      this.#documentScores = new Float32Array(documents + (documents >> 2));
    }
    this.#scores.fill(0, 0, slots);
    this.#documentScores.fill(0, 0, documents);
    const damping = this.#lengths.damping();
    const weightOf = new Map(terms.map((term, place) => [term, weights?.[place] ?? 1]));
    let bound = 0;
    for (const [term, weight] of weightOf) bound += this.#addScores(term, weight, damping);
    return bound;
  }

  #offer(tally: Tally, first: number, count: number): void {
    const { top, isCounted, isFit, allowed, generations } = tally;
    const [scores, documentScores] = [this.#scores, this.#documentScores];
    const { documentOf } = this.#lengths;
    let threshold = top.threshold;
    let last: Run | undefined;
    for (let slot = first; slot < first + count; slot++) {
      const own = scores[slot] as number;
      // Chunks with none of the terms are not found.
      if (own <= 0) continue;
      const score = own + (documentScores[documentOf[slot] as number] as number);
      if (!isCounted && score < threshold) continue;
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
  #addScores(term: Sought, weight: number, damping: Damping): number {
    if (typeof term !== 'string' && term.length !== 1) {
      return this.#addAlternatives(term, weight, damping);
    }
    const id = this.#idOf(term);
    const found = id === undefined ? 0 : this.#postings.countOf(id);
    const highest = this.#rarityOf(found) * weight;
    if (id === undefined) return highest;
    const adding = this.#adding(highest, damping);
    this.#postings.read(id, adding.addPostings);
    adding.end();
    return highest;
  }

  /** Adds the scores of postings, which are in the order of their slots. */
  #adding(highest: number, { fixed, perChunkWord, perDocumentWord }: Damping) {
    const [scores, documentScores] = [this.#scores, this.#documentScores];
    const { chunkWords, documentOf, documentWords } = this.#lengths;
    const ofChunk = highest * (1 - documentShare);
    const ofDocument = highest * documentShare;
    let document = -1;
    let inDocument = 0;
    const end = (): void => {
      if (document < 0) return;
      const damping = fixed + perDocumentWord * (documentWords[document] as number);
      const score = (ofDocument * inDocument) / (inDocument + damping);
      documentScores[document] = (documentScores[document] as number) + score;
    };
    const addPostings = (page: ArrayLike<number>, from: number, to: number): void => {
      for (let place = from; place < to; place++) {
        const posting = page[place] as number;
        const slot = posting >>> countBits;
        const count = posting & countMax;
        const damping = fixed + perChunkWord * (chunkWords[slot] as number);
        scores[slot] = (scores[slot] as number) + (ofChunk * count) / (count + damping);
        const own = documentOf[slot] as number;
        if (own !== document) {
          end();
          document = own;
          inDocument = 0;
        }
        inDocument += count;
      }
    };
    return { addPostings, end };
  }

  #idOf(term: Sought): number | undefined {
    const name = typeof term === 'string' ? term : term[0];
    return name === undefined ? undefined : this.#terms.find(termKeyOf(name));
  }

  /** Alternatives count as one term: a chunk has the highest of their counts. */
  #addAlternatives(terms: readonly string[], weight: number, damping: Damping): number {
    const counts = this.#countsOf(terms);
    const highest = this.#rarityOf(counts.size) * weight;
    const toPosting = ([slot, count]: [number, number]) => (slot << countBits) | count;
    const postings = Int32Array.from(counts, toPosting).sort();
    const adding = this.#adding(highest, damping);
    adding.addPostings(postings, 0, postings.length);
    adding.end();
    return highest;
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

  #append(run: Run, block: Block): void {
    const { words, ordinalsAt, lengthsAt, chunks } = block;
    const first = this.#runOf.length;
    for (let chunk = 0; chunk < chunks; chunk++) {
      this.#runOf.push(run);
      this.#ordinals.push(words[ordinalsAt + chunk] as number);
      this.#lengths.addChunk(run.number, words[lengthsAt + chunk] as number);
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
    const [ordinals, runOf]: [number[], Run[]] = [[], []];
    const lengths = new Lengths();
    for (const run of runs) {
      const moved = { ...run, number: lengths.addDocument(), start: next };
      this.#byDocument.set(run.documentId, moved);
      for (let slot = run.start; slot < run.start + run.count; slot++) {
        newSlot[slot] = next++;
        ordinals.push(this.#ordinals[slot] as number);
        lengths.addChunk(moved.number, this.#lengths.chunkWords[slot] as number);
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
    this.#lengths = lengths;
    [this.#ordinals, this.#runOf] = [ordinals, runOf];
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
