/** Cutting a text into chunks, short ones here and long ones in a thread that can be ended. */
import { Worker } from 'node:worker_threads';
import { Failure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { NewChunk } from '../store/chunks.ts';

export async function cut(text: string, signal: AbortSignal): Promise<readonly NewChunk[]> {
  signal.throwIfAborted();
  const chunks = await (text.length <= limits.attempt.cutHereCharactersMax
    ? cutHere(text)
    : cutApart(text, signal));
  const { chunksMax } = limits.document;
  if (chunks.length <= chunksMax) return chunks;
  throw new Failure('source_too_large', `it would be ${chunks.length} of ${chunksMax} chunks`);
}

async function cutHere(text: string): Promise<readonly NewChunk[]> {
  // The tokenizer's vocabulary takes a moment to load, and not every process cuts text.
  const { splitText } = await import('../pipeline/chunk/split.ts');
  return splitText(text);
}

function cutApart(text: string, signal: AbortSignal): Promise<readonly NewChunk[]> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./cut-thread.ts', import.meta.url), { workerData: text });
    const end = (): void => {
      signal.removeEventListener('abort', abort);
      void thread.terminate();
    };
    const abort = (): void => {
      end();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    thread.once('message', (chunks: readonly NewChunk[]) => {
      end();
      resolve(chunks);
    });
    thread.once('error', (error) => {
      end();
      reject(error);
    });
    thread.once('exit', () => {
      reject(new Failure('internal_error', 'the thread that cuts a text has ended too early'));
    });
  });
}
