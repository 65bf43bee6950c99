/** Cuts a text into its pieces, here or wherever that is done. */
import { setImmediate } from 'node:timers/promises';
import { loadOnce } from '../../concurrency/load-once.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { NewChunk } from '../../store/document/chunks.ts';

export type Chunker = (text: string, signal: AbortSignal) => Promise<readonly NewChunk[]>;

/** A chunk whose text is in the document but for its opening and its closing. */
export interface Cut extends Omit<NewChunk, 'text'> {
  readonly opening: string;
  readonly closing: string;
}

export function withText(text: string, { opening, closing, ...chunk }: Cut): NewChunk {
  const slice = text.slice(chunk.startOffset, chunk.endOffset);
  return { ...chunk, text: opening + slice + closing };
}

export const cutHere: Chunker = async (text) => {
  const splitText = await splitter();
  return bounded(splitText(text));
};

/**
 * The tokenizer's vocabulary takes a moment to load, and not every process cuts text. It is loaded
 * in a turn of the event loop of its own, so that no other work is added to its time.
 */
const splitter = loadOnce(async () => {
  await setImmediate();
  const { splitText } = await import('./split.ts');
  await setImmediate();
  return splitText;
});

export function bounded<T>(chunks: readonly T[]): readonly T[] {
  const { chunksMax } = limits.document;
  if (chunks.length <= chunksMax) return chunks;
  throw new Failure('source_too_large', `it would be ${chunks.length} of ${chunksMax} chunks`);
}
