/** Removes what old generations leave behind. */
import type { Lifecycle } from '../../kernel/lifecycle/item.ts';
import type { NewEvent } from '../../observe/event.ts';
import { ownerOfCorpus } from '../corpus/access.ts';
import type { Transaction } from '../driver/database.ts';
import { forgetAttachments, listGone } from './attachments.ts';
import { pruneGeneration } from './chunks.ts';
import {
  type DocumentRow,
  deleteDocument,
  deleteTexts,
  getDocument,
  lockDocument,
  staleGenerations,
} from './documents.ts';

/**
 * Removes generations of a document that were replaced and are not in use; and the `own` generation
 * of an item that ends, unless it is the current one. Another item of the same commit may have
 * removed its text before its chunks were written.
 */
export async function pruneReplaced(
  transaction: Transaction,
  documentId: string,
  own?: number,
): Promise<void> {
  const [current, stale] = await Promise.all([
    lockDocument(transaction, documentId),
    staleGenerations(transaction, documentId),
  ]);
  if (own !== undefined && own !== current && !stale.includes(own)) stale.push(own);
  for (const generation of stale) await pruneGeneration(transaction, generation);
  await deleteTexts(transaction, stale);
}

/**
 * Removes the documents of files that the indexed version of a mail does not have. Items that still
 * work on one of them end without effect, because its tombstone is newer.
 */
export async function removeGoneAttachments(
  transaction: Transaction,
  mailId: string,
): Promise<NewEvent[]> {
  const gone = await listGone(transaction, mailId);
  const events: NewEvent[] = [];
  for (const id of gone) {
    const document = await getDocument(transaction, id);
    await deleteDocument(transaction, id);
    await pruneReplaced(transaction, id);
    if (document) events.push(await deletionOf(transaction, document));
  }
  if (gone.length > 0) await forgetAttachments(transaction, gone);
  return events;
}

/** Removes a document without open items, with all its generations. */
export async function removeDocument(transaction: Transaction, id: string): Promise<NewEvent[]> {
  const document = await getDocument(transaction, id);
  const generations = await deleteDocument(transaction, id);
  for (const generation of generations) await pruneGeneration(transaction, generation);
  await deleteTexts(transaction, generations);
  return document ? [await deletionOf(transaction, document)] : [];
}

export async function deletionOf(
  transaction: Transaction,
  document: DocumentRow,
): Promise<NewEvent> {
  const { id, corpus, caller } = document;
  const owner = await ownerOfCorpus(transaction, document);
  const detail = { document_id: id, corpus, caller, owner };
  return { kind: 'document_deleted', jobId: null, detail };
}

export interface EndedItem {
  readonly document_id: string;
  readonly progress: number;
}

/** Prunes for items that were ended and had only pruning left. */
export async function pruneInPlaceOf(
  transaction: Transaction,
  items: readonly EndedItem[],
  lifecycle: Lifecycle,
): Promise<NewEvent[]> {
  const isFlipped = ({ progress }: EndedItem): boolean => lifecycle.ready(progress)[0] === 'done';
  const ids = items.filter(isFlipped).map(({ document_id }) => document_id);
  const events: NewEvent[] = [];
  for (const id of [...new Set(ids)].sort()) {
    await pruneReplaced(transaction, id);
    events.push(...(await removeGoneAttachments(transaction, id)));
  }
  return events;
}
