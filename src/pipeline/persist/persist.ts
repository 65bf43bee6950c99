/**
 * `persisted`: joins the branches. The generation is complete: every chunk has its vector, in the
 * store and in every sink.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { Sink } from '../../sink/sink.ts';
import { recordDeliveries } from '../../store/delivery/sinks.ts';
import { countModels, countOfGeneration } from '../../store/document/chunks.ts';
import { getText, type TextRow } from '../../store/document/documents.ts';
import type { Reader } from '../../store/driver/database.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { endWithoutText } from '../pruned-text.ts';
import { textOf } from '../step-memory.ts';
import { deliver, type GenerationHead, storedGeneration } from './deliver.ts';

export function persistStep(sinks: readonly Sink[] = []): StepFunction {
  return async (context) => {
    const { item, reader } = context;
    if (!(await textOf(context))) return endWithoutText(context);
    // Without sinks, the check runs in the commit: the rows may be written in the same one.
    if (sinks.length === 0) {
      return {
        effect: async (transaction) => {
          await countWhole(transaction, item);
          return undefined;
        },
      };
    }
    return deliverWhole(context, sinks, await countWhole(reader, item));
  };
}

/** The number of chunks; throws unless all have their vectors. */
async function countWhole(reader: Reader, { id, source }: PipelineItem): Promise<number> {
  const { chunks, vectors } = await countOfGeneration(reader, id);
  if (chunks > 0 && chunks === vectors) return chunks;
  const message = `${source}: ${chunks} chunks and ${vectors} vectors are stored`;
  throw new Failure('step_output_invalid', message);
}

async function deliverWhole(
  context: StepContext,
  sinks: readonly Sink[],
  chunks: number,
): Promise<StepResult> {
  const { item, reader, signal } = context;
  const text = await getText(reader, item.id);
  if (!text) return endWithoutText(context);
  const counts = await countModels(reader, item.id);
  const models = [...counts].flatMap(([model, count]) => (count === chunks ? [model] : []));
  const generation = storedGeneration(reader, headOf(item, text));
  const delivered = await deliver(sinks, { generation, models, signal });
  return {
    effect: async (transaction) => {
      await recordDeliveries(transaction, delivered);
      return undefined;
    },
  };
}

export function headOf(item: PipelineItem, { title, language }: TextRow): GenerationHead {
  const { id, caller, corpus, documentId, source } = item;
  return { id, caller, corpus, documentId, source, title, language };
}
