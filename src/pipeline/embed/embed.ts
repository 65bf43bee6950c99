/** `embedded`: every chunk has its vector. */
import { Failure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import type { Embedder } from '../../provider/embedding.ts';
import { insertVectors } from '../../store/chunks.ts';
import { chunksOf } from '../chunk/chunk.ts';
import type { StepFunction } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

export function embedStep(embedder: Embedder): StepFunction {
  return async (context) => {
    const chunks = await chunksOf(context);
    if (!chunks) return withoutText(context);
    const rows: { ordinal: number; model: string; vector: Uint8Array }[] = [];
    let tokensIn = 0;
    let costCents = 0;
    for (let start = 0; start < chunks.length; start += limits.budget.embeddingBatchMax) {
      const batch = chunks.slice(start, start + limits.budget.embeddingBatchMax);
      const texts = batch.map(({ heading, text }) => (heading ? `${heading}\n${text}` : text));
      const answer = await embedder.embed(texts, context.signal);
      if (answer.vectors.length !== batch.length) {
        const message = `${embedder.model}: ${answer.vectors.length} of ${batch.length} vectors`;
        throw new Failure('step_output_invalid', message);
      }
      answer.vectors.forEach((vector, index) => {
        rows.push({ ordinal: start + index, model: embedder.model, vector });
      });
      tokensIn += answer.tokensIn;
      costCents += answer.costCents;
      context.progress(rows.length, chunks.length);
    }
    return {
      model: embedder.model,
      tokensIn,
      costCents,
      effect: async (transaction) => {
        await insertVectors(transaction, context.item.id, rows);
        return undefined;
      },
    };
  };
}
