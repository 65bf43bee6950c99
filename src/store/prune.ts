/** What generations leave behind, and when it goes. */
import type { Lifecycle } from '../kernel/item.ts';
import { pruneGeneration } from './chunks.ts';
import type { Transaction } from './database.ts';
import { deleteTexts, lockDocument, staleGenerations } from './documents.ts';

/** Removes what the current generation of a document has replaced, and nobody works on. */
export async function pruneReplaced(transaction: Transaction, documentId: string): Promise<void> {
  await lockDocument(transaction, documentId);
  const stale = await staleGenerations(transaction, documentId);
  for (const generation of stale) await pruneGeneration(transaction, generation);
  await deleteTexts(transaction, stale);
}

export interface EndedItem {
  readonly document_id: string;
  readonly progress: number;
}

/** Items were ended that had nothing left to do but to prune: it is done here in their place. */
export async function pruneInPlaceOf(
  transaction: Transaction,
  items: readonly EndedItem[],
  lifecycle: Lifecycle,
): Promise<void> {
  const isFlipped = ({ progress }: EndedItem): boolean => lifecycle.ready(progress)[0] === 'done';
  const ids = items.filter(isFlipped).map(({ document_id }) => document_id);
  for (const id of [...new Set(ids)].sort()) await pruneReplaced(transaction, id);
}
