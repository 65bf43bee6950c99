/** Ends the open items of documents, with the counts of their jobs and the events. */
import type { NewEvent } from '../../observe/event.ts';
import { listAttachmentsBelow } from '../../store/document/attachments.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { gatesOf } from '../../store/item/claims.ts';
import { admitAtGates } from '../../store/item/gates.ts';
import { cancelOfDocuments } from '../../store/item/interventions.ts';
import { JobDeltas, settleJobs } from '../../store/job/update-jobs.ts';

/**
 * Returns the ids of the items, and events that the caller appends last. `remove` removes the
 * documents: before the jobs are settled, because the last job of a re-embedding counts them.
 */
export async function cancelItemsOf(
  transaction: Transaction,
  documentIds: readonly string[],
  now: number,
  remove: () => Promise<readonly NewEvent[]> = async () => [],
): Promise<{ items: number[]; events: NewEvent[] }> {
  const ids = [...documentIds, ...(await listAttachmentsBelow(transaction, documentIds))];
  if (ids.length === 0) return { items: [], events: [...(await remove())] };
  const { items, canceled, waiting } = await cancelOfDocuments(transaction, ids, now);
  const events: NewEvent[] = items.map(({ id, job_id }) => ({
    kind: 'item_canceled',
    jobId: job_id,
    itemId: id,
  }));
  events.push(...(await remove()));
  const deltas = new JobDeltas();
  for (const id of canceled) deltas.of(id).canceled++;
  for (const id of waiting) deltas.of(id).waiting--;
  await admitAtGates(transaction, gatesOf(items), now);
  events.push(...(await settleJobs(transaction, deltas, now)));
  return { items: items.map(({ id }) => id), events };
}
