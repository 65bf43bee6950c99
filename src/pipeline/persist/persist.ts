/** `persisted`: the branches have met, and the generation is whole: every chunk with its vector. */
import { Failure } from '../../kernel/failure.ts';
import { countOfGeneration } from '../../store/chunks.ts';
import { getText } from '../../store/documents.ts';
import type { StepFunction } from '../pipeline.ts';
import { withoutText } from '../superseded.ts';

export const persistStep: StepFunction = async (context) => {
  const { item, reader } = context;
  const { chunks, vectors } = await countOfGeneration(reader, item.id);
  if (chunks > 0 && chunks === vectors) return {};
  if (chunks === 0 && !(await getText(reader, item.id))) return withoutText(context);
  const message = `${item.source}: ${chunks} chunks and ${vectors} vectors are stored`;
  throw new Failure('step_output_invalid', message);
};
