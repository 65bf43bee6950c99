/**
 * An item that was retried after a newer one had replaced its document finds that its own text has
 * been pruned. It has nothing left to do, and that is no failure.
 */
import { Failure } from '../kernel/failure.ts';
import { getDocument } from '../store/documents.ts';
import type { StepContext, StepResult } from './pipeline.ts';

export async function withoutText({ item, reader }: StepContext): Promise<StepResult> {
  const document = await getDocument(reader, item.documentId);
  if (document && document.generation_id > item.id) return { unchanged: true };
  throw new Failure('source_missing', `the text of ${item.source} is gone`);
}
