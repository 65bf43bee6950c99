/**
 * `indexed`: the search rows are written and the generation becomes the current one, in one
 * transaction. Until then readers see the old generation; from then on the new one.
 */
import type { NewEvent } from '../../observe/event.ts';
import { countOfGeneration, indexGeneration } from '../../store/chunks.ts';
import { flip, getText, type TextRow } from '../../store/documents.ts';
import { pruneReplaced } from '../../store/prune.ts';
import { type CompleteVectors, completeVectors } from '../embed/complete.ts';
import type { EmbedOptions } from '../embed/embed.ts';
import type { StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

export function indexStep(options: EmbedOptions): StepFunction {
  return async (context) => {
    const text = await getText(context.reader, context.item.id);
    if (!text) return withoutText(context);
    return flipTo(context, text, await completeVectors(context, options));
  };
}

async function flipTo(
  { item, reader }: StepContext,
  text: TextRow,
  vectors: CompleteVectors,
): Promise<StepResult> {
  const { chunks } = await countOfGeneration(reader, item.id);
  return {
    ...vectors.spent,
    counts: { documents: 1 },
    effect: async (transaction, now) => {
      await vectors.write(transaction, now);
      await indexGeneration(transaction, item.id, text.title ?? '');
      const generation = await flip(
        transaction,
        {
          id: item.documentId,
          caller: item.caller,
          corpus: item.corpus,
          source: item.source,
          title: text.title,
          language: text.language,
          generation_id: item.id,
          content_hash: text.content_hash,
          chunk_count: chunks,
          text_bytes: Buffer.byteLength(text.body),
        },
        now,
      );
      const kind = generation === undefined ? 'generation_superseded' : 'generation_flipped';
      const detail = { document_id: item.documentId, generation };
      const event: NewEvent = { kind, jobId: item.jobId, itemId: item.id, detail };
      return [event];
    },
  };
}

/** `done`: what the current generation has replaced is gone. */
export const pruneStep: StepFunction = async ({ item }) => ({
  effect: async (transaction) => {
    await pruneReplaced(transaction, item.documentId);
    return undefined;
  },
});
