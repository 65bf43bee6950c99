/** `chunked`: stores the ordered chunks of this generation next to those of the current one. */
import { readChunking } from '../../kernel/text/chunking.ts';
import { insertChunks, type NewChunk } from '../../store/document/chunks.ts';
import { withPages } from '../page-starts.ts';
import type { StepContext, StepFunction } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { textOf } from '../step-memory.ts';
import { type Chunker, chunkHere } from './chunker.ts';

export function chunkStep(chunker?: Chunker): StepFunction {
  return async (context) => {
    const { id, documentId } = context.item;
    const chunks = await chunksOf(context, chunker);
    if (!chunks) return endWithoutText(context);
    return {
      counts: { tokens: tokensIn(chunks) },
      detail: { chunks: chunks.length },
      effect: async (transaction) => {
        await insertChunks(transaction, { documentId, generationId: id }, chunks);
        return undefined;
      },
    };
  };
}

function tokensIn(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}

type Chunks = Promise<readonly NewChunk[] | undefined>;

/**
 * The chunks of this item. The branches share them, and none waits for another's commit. Undefined
 * if the text is gone.
 */
export function chunksOf(context: StepContext, chunker: Chunker = chunkHere): Chunks {
  const chunks = chunksOfRun(context) ?? split(context, chunker);
  context.scratch.set('chunks', chunks);
  return chunks;
}

/** The chunks that this run has made. */
export function chunksOfRun({ scratch }: StepContext): Chunks | undefined {
  return scratch.get('chunks') as Chunks | undefined;
}

async function split(context: StepContext, chunker: Chunker): Chunks {
  const text = await textOf(context);
  if (!text) return undefined;
  const chunks = await chunker(text.body, context.signal, readChunking(text.chunking ?? null));
  return withPages(chunks, JSON.parse(text.meta));
}
