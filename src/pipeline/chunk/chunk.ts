/** `chunked`: the ordered pieces of this generation are stored beside those of the current one. */
import { Failure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import { insertChunks, type NewChunk } from '../../store/chunks.ts';
import { getText } from '../../store/documents.ts';
import type { StepContext, StepFunction } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

export const chunkStep: StepFunction = async (context) => {
  const { id, documentId } = context.item;
  const chunks = await chunksOf(context);
  if (!chunks) return withoutText(context);
  return {
    counts: { chunks: chunks.length, tokens: tokensIn(chunks) },
    effect: async (transaction) => {
      await insertChunks(transaction, { documentId, generationId: id }, chunks);
      return undefined;
    },
  };
};

function tokensIn(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
}

type Chunks = Promise<readonly NewChunk[] | undefined>;

/**
 * The chunks of this item. The branches share them, and none waits for another's commit. Undefined:
 * the text is gone.
 */
export function chunksOf(context: StepContext): Chunks {
  const known = context.scratch.get('chunks') as Chunks | undefined;
  const chunks = known ?? split(context);
  context.scratch.set('chunks', chunks);
  return chunks;
}

async function split({ item, reader, scratch }: StepContext): Chunks {
  const held = scratch.get('extracted') as { text: string } | undefined;
  const text = held?.text ?? (await getText(reader, item.id))?.body;
  if (text === undefined) return undefined;
  // The tokenizer's vocabulary takes a moment to load, and not every process cuts text.
  const { splitText } = await import('./split.ts');
  const chunks = splitText(text);
  if (chunks.length <= limits.document.chunksMax) return chunks;
  const message = `${item.source} would be ${chunks.length} of ${limits.document.chunksMax} chunks`;
  throw new Failure('source_too_large', message);
}
