/**
 * Re-embeds a corpus. Each document is an item; its current generation gets vectors of the new
 * model, next to those that are searched. When the job ends, the corpus switches to the new model
 * (`store/corpus/reembedding.ts`).
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Sink } from '../../sink/sink.ts';
import { addToReembed } from '../../store/corpus/reembedding.ts';
import { getCorpusSettings } from '../../store/corpus/settings.ts';
import { recordDeliveries } from '../../store/delivery/sinks.ts';
import { countModels } from '../../store/document/chunks.ts';
import { getDocument, lockDocument } from '../../store/document/documents.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { releaseReservation } from '../../store/money/budgets.ts';
import { deliver, storedGeneration } from '../persist/deliver.ts';
import type { PipelineItem, StepFunction } from '../pipeline.ts';
import { embedStored } from './complete.ts';
import { detailOf, type EmbedOptions, writeVectors } from './embed.ts';

export function reembedStep(options: EmbedOptions, sinks: readonly Sink[] = []): StepFunction {
  const embed = embedAnew(options, sinks);
  return async (context) => {
    const result = await embed(context);
    return {
      ...result,
      effect: async (transaction, now) => {
        const events = await result?.effect?.(transaction, now);
        await addToReembed(transaction, context.item, now);
        return events;
      },
    };
  };
}

function embedAnew(options: EmbedOptions, sinks: readonly Sink[]): StepFunction {
  return async (context) => {
    const { item, reader } = context;
    const { next_model: model } = await getCorpusSettings(reader, item);
    if (model === null) throw calledOff(item);
    const document = await getDocument(reader, item.documentId);
    // Deleted: there is nothing to embed, and nothing is missing.
    if (!document) return {};
    const generationId = document.generation_id;
    const present = (await countModels(reader, generationId)).get(model) ?? 0;
    if (present >= document.chunk_count) return { model };
    const part = await embedStored(context, options, { model, generationId });
    const head = { ...document, id: generationId, documentId: document.id };
    const delivered = await deliver(
      sinks.filter(({ keeps }) => keeps === 'vectors'),
      {
        generation: storedGeneration(reader, head, [part]),
        models: [model],
        signal: context.signal,
      },
    );
    return {
      model,
      ...(part.isMetered
        ? { detail: detailOf([part]) }
        : { tokensIn: part.tokensIn, costCents: part.costCents }),
      effect: async (transaction, now) => {
        await refuseReplaced(transaction, item, generationId);
        await writeVectors(transaction, [part], { item, generationId, now });
        await recordDeliveries(transaction, delivered);
        await releaseReservation(transaction, { itemId: item.id, step: 'embedded' });
        return undefined;
      },
    };
  };
}

/** The replacement has its own vectors, or gets them when the step runs again. */
async function refuseReplaced(
  transaction: Transaction,
  { documentId, source }: PipelineItem,
  generationId: number,
): Promise<void> {
  if ((await lockDocument(transaction, documentId)) === generationId) return;
  throw new Failure('replaced_meanwhile', `${source} was replaced while it was being embedded`);
}

function calledOff({ corpus }: PipelineItem): Failure {
  const message = `${corpus} is not being re-embedded: start with \`pawl corpora reembed\``;
  return new Failure('action_not_allowed', message);
}
