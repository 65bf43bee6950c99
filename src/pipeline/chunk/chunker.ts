/** Splits a text into chunks, in this thread or elsewhere. */
import { setImmediate } from 'node:timers/promises';
import { loadOnce } from '../../concurrency/load-once.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Chunking } from '../../kernel/text/chunking.ts';
import type { NewChunk } from '../../store/document/chunks.ts';

/** Without a chunking, the text is split by the default one. */
export type Chunker = (
  text: string,
  signal: AbortSignal,
  chunking?: Chunking,
) => Promise<readonly NewChunk[]>;

/** A chunk without its text, which is a slice of the document between an opening and a closing. */
export interface ChunkSlice extends Omit<NewChunk, 'text'> {
  readonly opening: string;
  readonly closing: string;
}

export function withText(text: string, { opening, closing, ...chunk }: ChunkSlice): NewChunk {
  const slice = text.slice(chunk.startOffset, chunk.endOffset);
  return { ...chunk, text: opening + slice + closing };
}

export const chunkHere: Chunker = async (text, _signal, chunking) => {
  const splitText = await splitter();
  return bounded(splitText(text, chunking));
};

/**
 * The tokenizer's vocabulary is slow to load, and not every process chunks text. It is loaded in
 * its own turn of the event loop, so that no other work adds to the delay.
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
  throw new Failure(
    'source_too_large',
    `the text has ${chunks.length} chunks; the limit is ${chunksMax}`,
  );
}
