/**
 * If an item is retried after its document was replaced or deleted, its own text has been pruned.
 * It has nothing left to do, and that is not a failure.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { isSuperseded } from '../store/document/documents.ts';
import type { StepContext, StepResult } from './pipeline.ts';

export async function endWithoutText({ item, reader }: StepContext): Promise<StepResult> {
  if (await isSuperseded(reader, item.documentId, item.id)) return { unchanged: true };
  throw new Failure('source_missing', `the text of ${item.source} is gone`);
}
