/** Ends the open items of documents, with the counts of their jobs and the events. */
import type { NewEvent } from '../../observe/event.ts';
import { listAttachmentsBelow } from '../../store/document/attachments.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import { cancelOfDocuments } from '../../store/item/interventions.ts';
import { JobDeltas, settleJobs } from '../../store/job/update-jobs.ts';

/** The ids of the items, and events that the caller appends last. */
export async function cancelItemsOf(
  transaction: Transaction,
  documentIds: readonly string[],
  now: number,
): Promise<{ items: number[]; events: NewEvent[] }> {
  const ids = [...documentIds, ...(await listAttachmentsBelow(transaction, documentIds))];
  if (ids.length === 0) return { items: [], events: [] };
  const { items, canceled, waiting } = await cancelOfDocuments(transaction, ids, now);
  const events: NewEvent[] = items.map(({ id, job_id }) => ({
    kind: 'item_canceled',
    jobId: job_id,
    itemId: id,
  }));
  const deltas = new JobDeltas();
  for (const id of canceled) deltas.of(id).canceled++;
  for (const id of waiting) deltas.of(id).waiting--;
  await admitAtGates(transaction, gatesOf(items), now);
  events.push(...(await settleJobs(transaction, deltas, now)));
  return { items: items.map(({ id }) => id), events };
}
