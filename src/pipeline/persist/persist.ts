/**
 * `persisted`: the branches have met, and the generation is whole: every chunk with its vector, in
 * the store and in every sink.
 */
import { Failure } from '../../kernel/failure.ts';
import type { Sink } from '../../sink/sink.ts';
import { countModels, countOfGeneration } from '../../store/chunks.ts';
import { getText, type TextRow } from '../../store/documents.ts';
import { recordDeliveries } from '../../store/sinks.ts';
import type { PipelineItem, StepContext, StepFunction, StepResult } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';
import { deliver, type GenerationHead, storedGeneration } from './deliver.ts';

export function persistStep(sinks: readonly Sink[] = []): StepFunction {
  return async (context) => {
    const { item, reader } = context;
    const { chunks, vectors } = await countOfGeneration(reader, item.id);
    if (chunks > 0 && chunks === vectors) {
      return sinks.length === 0 ? {} : deliverWhole(context, sinks, chunks);
    }
    if (chunks === 0 && !(await getText(reader, item.id))) return withoutText(context);
    const message = `${item.source}: ${chunks} chunks and ${vectors} vectors are stored`;
    throw new Failure('step_output_invalid', message);
  };
}

async function deliverWhole(
  context: StepContext,
  sinks: readonly Sink[],
  chunks: number,
): Promise<StepResult> {
  const { item, reader, signal } = context;
  const text = await getText(reader, item.id);
  if (!text) return withoutText(context);
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
