/**
 * The vectors of one corpus of one caller. A generation is a run of slots, in order of arrival.
 * Removing one leaves a hole; when holes are a third of all slots, they are compacted.
 */
import assert from 'node:assert/strict';
import type { Saveable } from '../saved/saveable.ts';
import { bytesOf, readRows, rowPieces, type Source } from '../saved/saved-file.ts';
import { type Arena, blockBytes, type Query, slotBytesOf } from './arena.ts';
import { Top } from './top.ts';

/** The vectors of a generation, concatenated, and their ordinals in the same order. */
export interface Vectors {
  readonly ordinals: readonly number[];
  readonly bytes: Uint8Array;
}

export interface VectorPlace {
  readonly documentId: string;
  readonly generationId: number;
  readonly ordinal: number;
}

export interface VectorHit extends VectorPlace {
  /** Cosine similarity. */
  readonly score: number;
}

interface Run {
  readonly generationId: number;
  readonly documentId: string;
  readonly count: number;
  start: number;
}

/** What a search may find. */
export interface PlaceFilter {
  /** Only places of these documents are allowed. */
  readonly documents: { readonly size: number; keys(): Iterable<string> };
  isAllowed(place: VectorPlace): boolean;
}

/** If a filter allows less than this share of the documents, only their slots are scanned. */
const fewShare = 1 / 4;

export function areFew({ documents }: PlaceFilter, all: number): boolean {
  return documents.size < all * fewShare;
}

interface Portion {
  readonly first: number;
  readonly count: number;
  readonly isAllowed: ((place: VectorPlace) => boolean) | undefined;
}

export class Partition implements Saveable {
  readonly #arena: Arena;
  readonly #dimensions: number;
  readonly #slotBytes: number;
  readonly #slotsPerBlock: number;
  readonly #blocks: number[] = [];
  #runs: Run[] = [];
  readonly #byGeneration = new Map<number, Run>();
  readonly #byDocument = new Map<string, number>();
  /** Per slot: its run, or undefined in a hole; its ordinal; the inverse of its length. */
  #runOf: (Run | undefined)[] = [];
  #ordinals: number[] = [];
  #inverseLengths = new Float32Array(1024);
  #used = 0;
  #live = 0;
  #version = 0;

  constructor(arena: Arena, dimensions: number) {
    this.#arena = arena;
    this.#dimensions = dimensions;
    this.#slotBytes = slotBytesOf(dimensions);
    this.#slotsPerBlock = Math.floor(blockBytes / this.#slotBytes);
  }

  get size(): number {
    return this.#live;
  }

  get version(): number {
    return this.#version;
  }

  documentIds(): string[] {
    return [...this.#byDocument.keys()];
  }

  /** The generation of a document in this partition. */
  generationOf(documentId: string): number | undefined {
    return this.#byDocument.get(documentId);
  }

  /** Replaces what the document had before. */
  put(documentId: string, generationId: number, { ordinals, bytes }: Vectors): void {
    assert.equal(bytes.length, ordinals.length * this.#dimensions, 'whole vectors');
    this.remove(documentId);
    this.#version += 1;
    const run = { generationId, documentId, count: ordinals.length, start: this.#used };
    const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    ordinals.forEach((ordinal, index) => {
      this.#runOf.push(run);
      this.#ordinals.push(ordinal);
      this.#append(signed, index * this.#dimensions);
    });
    this.#live += run.count;
    this.#runs.push(run);
    this.#byGeneration.set(generationId, run);
    this.#byDocument.set(documentId, generationId);
  }

  remove(documentId: string): void {
    const run = this.#byGeneration.get(this.#byDocument.get(documentId) ?? Number.NaN);
    if (!run) return;
    this.#version += 1;
    this.#byDocument.delete(documentId);
    this.#byGeneration.delete(run.generationId);
    this.#runOf.fill(undefined, run.start, run.start + run.count);
    this.#live -= run.count;
    if (this.#used - this.#live > Math.max(this.#live / 2, this.#slotsPerBlock)) this.#closeHoles();
  }

  /** The nearest vectors, nearest first; of equal ones the older chunk first. */
  search(query: Query, size: number, allowed?: PlaceFilter): VectorHit[] {
    this.#arena.setQuery(query);
    const top = new Top(size, (slot, other) => this.#isLater(slot, other));
    const isAllowed = allowed?.isAllowed;
    if (allowed && areFew(allowed, this.#byDocument.size)) {
      for (const id of allowed.documents.keys()) {
        const run = this.#byGeneration.get(this.#byDocument.get(id) ?? Number.NaN);
        if (run) this.#scan(top, { first: run.start, count: run.count, isAllowed });
      }
    } else this.#scan(top, { first: 0, count: this.#used, isAllowed });
    return top.sorted().map(({ slot, score }) => {
      const { documentId, generationId, ordinal } = this.#placeOf(slot);
      return { documentId, generationId, ordinal, score: score * query.inverseLength };
    });
  }

  /** Frees its memory. It must not be used afterwards. */
  release(): void {
    this.#version += 1;
    this.#arena.give(this.#blocks.splice(0));
  }

  *pieces(): Generator<Uint8Array> {
    yield* rowPieces(this.#runs.filter((run) => this.#isLive(run)));
    yield* rowPieces([this.#used]);
    yield bytesOf(Uint32Array.from(this.#ordinals));
    yield bytesOf(this.#inverseLengths, this.#used);
    // The memory may grow while a piece is written, and is then replaced.
    for (const block of this.#blocks) {
      yield new Uint8Array(this.#arena.bytes.buffer, block, blockBytes);
    }
  }

  async restore(source: Source): Promise<void> {
    this.#runs = await readRows<Run>(source);
    const [used = 0] = await readRows<number>(source);
    const ordinals = new Uint32Array(used);
    await source.fill(bytesOf(ordinals));
    this.#ordinals = Array.from(ordinals);
    this.#inverseLengths = new Float32Array(Math.max(used, 1024));
    await source.fill(bytesOf(this.#inverseLengths, used));
    this.#runOf = new Array(used).fill(undefined);
    for (const run of this.#runs) {
      this.#runOf.fill(run, run.start, run.start + run.count);
      this.#byGeneration.set(run.generationId, run);
      this.#byDocument.set(run.documentId, run.generationId);
      this.#live += run.count;
    }
    this.#used = used;
    await this.#fillBlocks(source);
  }

  /** By way of a buffer: the memory of the arena may be replaced before a read ends. */
  async #fillBlocks(source: Source): Promise<void> {
    const portion = new Uint8Array(blockBytes * 16);
    const count = Math.ceil(this.#used / this.#slotsPerBlock);
    while (this.#blocks.length < count) {
      const some = Math.min(16, count - this.#blocks.length) * blockBytes;
      await source.fill(portion.subarray(0, some));
      for (let from = 0; from < some; from += blockBytes) {
        const block = this.#arena.take();
        this.#blocks.push(block);
        const signed = new Int8Array(portion.buffer, from, blockBytes);
        this.#arena.bytes.set(signed, block);
      }
    }
  }

  #isLive(run: Run): boolean {
    return this.#byGeneration.get(run.generationId) === run;
  }

  #scan(top: Top, { first, count, isAllowed }: Portion): void {
    for (let slot = first; slot < first + count; ) {
      const rest = this.#slotsPerBlock - (slot % this.#slotsPerBlock);
      const some = Math.min(rest, first + count - slot);
      const products = this.#arena.scan(this.#addressOf(slot), some, this.#slotBytes);
      this.#offer(top, products, { first: slot, count: some, isAllowed });
      slot += some;
    }
  }

  #offer(top: Top, products: Int32Array, { first, count, isAllowed }: Portion): void {
    const lengths = this.#inverseLengths;
    let { threshold } = top;
    for (let place = 0; place < count; place++) {
      const slot = first + place;
      const score = (products[place] as number) * (lengths[slot] as number);
      if (score < threshold || !this.#runOf[slot]) continue;
      if (isAllowed && !isAllowed(this.#placeOf(slot))) continue;
      top.offer(slot, score);
      threshold = top.threshold;
    }
  }

  #placeOf(slot: number): VectorPlace {
    const { documentId, generationId } = this.#run(slot);
    return { documentId, generationId, ordinal: this.#ordinalOf(slot) };
  }

  #append(vectors: Int8Array, from: number): void {
    const slot = this.#used++;
    if (slot % this.#slotsPerBlock === 0) this.#blocks.push(this.#arena.take());
    const start = this.#addressOf(slot);
    const { bytes } = this.#arena;
    const dimensions = this.#dimensions;
    bytes.set(vectors.subarray(from, from + dimensions), start);
    if (dimensions < this.#slotBytes) bytes.fill(0, start + dimensions, start + this.#slotBytes);
    const sum = squaresOf(vectors, from, dimensions);
    if (slot >= this.#inverseLengths.length) this.#inverseLengths = doubled(this.#inverseLengths);
    this.#inverseLengths[slot] = sum === 0 ? 0 : 1 / Math.sqrt(sum);
  }

  #closeHoles(): void {
    const { bytes } = this.#arena;
    this.#runs = this.#runs.filter((run) => this.#isLive(run));
    let next = 0;
    for (const run of this.#runs) {
      for (let slot = run.start; slot < run.start + run.count; slot++, next++) {
        const from = this.#addressOf(slot);
        bytes.copyWithin(this.#addressOf(next), from, from + this.#slotBytes);
        this.#inverseLengths[next] = this.#inverseLengths[slot] as number;
        this.#ordinals[next] = this.#ordinals[slot] as number;
        this.#runOf[next] = run;
      }
      run.start = next - run.count;
    }
    this.#used = next;
    this.#runOf.length = next;
    this.#ordinals.length = next;
    const kept = Math.ceil(next / this.#slotsPerBlock);
    this.#arena.give(this.#blocks.splice(kept));
  }

  #addressOf(slot: number): number {
    const block = this.#blocks[Math.floor(slot / this.#slotsPerBlock)] as number;
    return block + (slot % this.#slotsPerBlock) * this.#slotBytes;
  }

  #run(slot: number): Run {
    return this.#runOf[slot] as Run;
  }

  #isLater(slot: number, other: number): boolean {
    const difference = this.#run(slot).generationId - this.#run(other).generationId;
    return difference > 0 || (difference === 0 && this.#ordinalOf(slot) > this.#ordinalOf(other));
  }

  #ordinalOf(slot: number): number {
    return this.#ordinals[slot] as number;
  }
}

/** As 32-bit integers: the sum over the maximum number of dimensions still fits. */
function squaresOf(values: Int8Array, from: number, count: number): number {
  let sum = 0;
  for (let place = from; place < from + count; place++) {
    const value = values[place] as number;
    sum = (sum + Math.imul(value, value)) | 0;
  }
  return sum;
}

function doubled(values: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const larger = new Float32Array(values.length * 2);
  larger.set(values);
  return larger;
}
