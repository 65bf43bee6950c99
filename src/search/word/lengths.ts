/**
 * The lengths of chunks and of their documents, in words, for the length normalization of BM25. A
 * chunk has a slot, a document has a number.
 */

import { bytesOf, readRows, rowPieces, type Source } from '../saved/saved-file.ts';

/** BM25 parameters: k1 (term saturation) and b (length normalization). */
export const saturation = 1.2;
const lengthShare = 0.75;

/** A count is damped by the fixed part and by the share of the length. */
export interface Damping {
  readonly fixed: number;
  readonly perChunkWord: number;
  readonly perDocumentWord: number;
}

export class Lengths {
  /** By slot. */
  chunkWords = new Int32Array(1024);
  /** By slot: the number of its document. */
  documentOf = new Int32Array(1024);
  /** By document number. */
  documentWords = new Int32Array(1024);
  #slots = 0;
  #documents = 0;
  #live = { words: 0, chunks: 0, documents: 0 };

  get documents(): number {
    return this.#documents;
  }

  get heldBytes(): number {
    return this.chunkWords.length * 8 + this.documentWords.length * 4;
  }

  /** Returns its number. */
  addDocument(): number {
    const number = this.#documents++;
    if (number === this.documentWords.length) this.documentWords = widened(this.documentWords);
    this.documentWords[number] = 0;
    this.#live.documents += 1;
    return number;
  }

  /** The next slot. */
  addChunk(document: number, words: number): void {
    const slot = this.#slots++;
    if (slot === this.chunkWords.length) {
      this.chunkWords = widened(this.chunkWords);
      this.documentOf = widened(this.documentOf);
    }
    this.chunkWords[slot] = words;
    this.documentOf[slot] = document;
    this.documentWords[document] = (this.documentWords[document] as number) + words;
    this.#live.words += words;
    this.#live.chunks += 1;
  }

  /** Its slots stay, but do not count for the mean lengths. */
  remove({ number, count }: { readonly number: number; readonly count: number }): void {
    this.#live.words -= this.documentWords[number] as number;
    this.#live.chunks -= count;
    this.#live.documents -= 1;
  }

  *pieces(): Generator<Uint8Array> {
    const { words, chunks, documents } = this.#live;
    yield* rowPieces([this.#slots, this.#documents, words, chunks, documents]);
    yield bytesOf(this.chunkWords, this.#slots);
    yield bytesOf(this.documentOf, this.#slots);
    yield bytesOf(this.documentWords, this.#documents);
  }

  static async read(source: Source): Promise<Lengths> {
    const lengths = new Lengths();
    const [slots = 0, numbers = 0, words = 0, chunks = 0, documents = 0] =
      await readRows<number>(source);
    lengths.#slots = slots;
    lengths.#documents = numbers;
    lengths.#live = { words, chunks, documents };
    lengths.chunkWords = new Int32Array(Math.max(slots, 1024));
    lengths.documentOf = new Int32Array(Math.max(slots, 1024));
    lengths.documentWords = new Int32Array(Math.max(numbers, 1024));
    await source.fill(bytesOf(lengths.chunkWords, slots));
    await source.fill(bytesOf(lengths.documentOf, slots));
    await source.fill(bytesOf(lengths.documentWords, numbers));
    return lengths;
  }

  damping(): Damping {
    const { words, chunks, documents } = this.#live;
    const perWord = (saturation * lengthShare) / Math.max(words, 1);
    return {
      fixed: saturation * (1 - lengthShare),
      perChunkWord: perWord * chunks,
      perDocumentWord: perWord * documents,
    };
  }
}

function widened(values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(values.length * 2);
  wider.set(values);
  return wider;
}
