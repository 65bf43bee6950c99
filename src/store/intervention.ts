/**
 * The other writer of an item's state: what is done to items by those who do not hold them. A
 * person cancels, pauses, resumes, retries, discards; a clock wakes; a gate admits; a rescuer takes
 * from the dead. Whoever takes an item from a holder raises its epoch, and the holder is fenced
 * off.
 */
import type { WaitsOn } from '../kernel/waits.ts';
import type { Transaction } from './database.ts';
import {
  claimedItems,
  leaveQueues,
  leaveQueuesOfDocument,
  leaveQueuesOfItems,
  leaveTurns,
  popTimers,
  stand,
} from './queues.ts';
import { sql, sqlRows } from './statement.ts';

const beginAgain = sqlRows({ id: 'int', step: 'text', waits_on: 'text', now: 'int' })<{
  id: number;
}>`
  UPDATE items SET step = :step, waits_on = :waits_on, epoch = items.epoch + 1, attempt = 0,
    crashes = 0, error = NULL, failed_at = NULL, due_at = NULL, moved_at = :now
  {rows}
  WHERE items.id = :id AND items.step IN ('failed', 'canceled')
  RETURNING items.id`;

export interface Again {
  readonly id: number;
  readonly step: string;
  readonly rank: number;
  readonly gate: string | null;
  readonly waitsOn: 'turn' | 'gate' | 'person';
}

/** Ended items go on from where their progress stands. */
export async function retry(
  transaction: Transaction,
  items: readonly Again[],
  now: number,
): Promise<boolean[]> {
  const hits = await transaction.hits(
    beginAgain,
    items.map(({ id, step, waitsOn }) => ({ id, step, waits_on: waitsOn, now })),
  );
  await stand(
    transaction,
    items.filter((_, index) => hits[index]).map((item) => ({ ...item, dueAt: null })),
  );
  return hits;
}

const discardRow = sqlRows({ id: 'int', now: 'int' })<{ id: number }>`
  UPDATE items SET step = 'canceled', failed_at = NULL, moved_at = :now {rows}
  WHERE items.id = :id AND items.step = 'failed'
  RETURNING items.id`;

/** Failed items leave the inbox for good. */
export function discard(
  transaction: Transaction,
  ids: readonly number[],
  now: number,
): Promise<boolean[]> {
  return transaction.hits(
    discardRow,
    ids.map((id) => ({ id, now })),
  );
}

export interface MovedRow {
  readonly id: number;
  readonly job_id: number;
  readonly document_id: string;
  readonly gate: string | null;
  readonly gate_held: number;
  readonly rank: number;
  readonly waits_on: WaitsOn | null;
  readonly progress: number;
  readonly crashes: number;
  readonly source: string;
}

const movedColumns =
  'job_id, document_id, gate, gate_held, rank, waits_on, progress, crashes, source';
const moved = `RETURNING id, ${movedColumns}`;

/**
 * Before they leave the queues: one that is being handed back just now must not re-enter behind.
 */
const lockOfJob = sql`
  SELECT id FROM items WHERE job_id = :job_id AND waits_on IS NOT NULL ORDER BY id {forUpdate}`;
const lockOfDocument = sql`
  SELECT id FROM items WHERE document_id = :document_id AND waits_on IS NOT NULL
  ORDER BY id {forUpdate}`;

/** For who has to lock the job as well: reports lock their items first, and so must everybody. */
export async function lockItemsOfJob(transaction: Transaction, jobId: number): Promise<void> {
  await transaction.run(lockOfJob, { job_id: jobId });
}

const canceled = `UPDATE items SET step = 'canceled', waits_on = NULL, worker = NULL, due_at = NULL,
    gate_held = 0, epoch = epoch + 1, moved_at = :now`;
const cancelRows = sql<MovedRow>`
  ${canceled} WHERE job_id = :job_id AND waits_on IS NOT NULL ${moved}`;
const cancelRowsOfDocument = sql<MovedRow>`
  ${canceled} WHERE document_id = :document_id AND waits_on IS NOT NULL ${moved}`;

/** Ends all open items of a job, whoever holds them. */
export async function cancelOfJob(
  transaction: Transaction,
  jobId: number,
  now: number,
): Promise<MovedRow[]> {
  await transaction.run(lockOfJob, { job_id: jobId });
  await leaveQueues(transaction, jobId);
  return transaction.run(cancelRows, { job_id: jobId, now });
}

const waitingOfDocument = sql<{ job_id: number }>`
  SELECT job_id FROM items WHERE document_id = :document_id AND waits_on = 'time'
    AND gate_held = 0`;

/**
 * Ends all open items of a document: what is deleted must not come back by a late click. `waiting`
 * names the job of each item that was counted as waiting for its time.
 */
export async function cancelOfDocument(
  transaction: Transaction,
  documentId: string,
  now: number,
): Promise<{ items: MovedRow[]; waiting: { job_id: number }[] }> {
  await transaction.run(lockOfDocument, { document_id: documentId });
  const waiting = await transaction.run(waitingOfDocument, { document_id: documentId });
  await leaveQueuesOfDocument(transaction, documentId);
  const items = await transaction.run(cancelRowsOfDocument, { document_id: documentId, now });
  return { items, waiting };
}

const pauseRows = sql<MovedRow>`
  UPDATE items SET waits_on = 'person', worker = NULL, due_at = NULL, gate_held = 0,
    epoch = epoch + 1
  WHERE job_id = :job_id AND waits_on IN ('turn', 'worker', 'time', 'gate') ${moved}`;

export async function pauseOfJob(transaction: Transaction, jobId: number): Promise<MovedRow[]> {
  await transaction.run(lockOfJob, { job_id: jobId });
  await leaveQueues(transaction, jobId);
  return transaction.run(pauseRows, { job_id: jobId });
}

/** An item stands at its gate until the step that the gate guards is reached. */
const gateOrTurn = `CASE WHEN gate IS NOT NULL AND gate_held = 0 AND (progress & :gate_bit) = 0
  THEN 'gate' ELSE 'turn' END`;

const resumeRows = sql<MovedRow>`
  UPDATE items SET waits_on = ${gateOrTurn}, epoch = epoch + 1
  WHERE job_id = :job_id AND waits_on = 'person' ${moved}`;

export async function resumeOfJob(
  transaction: Transaction,
  jobId: number,
  gateBit: number,
): Promise<MovedRow[]> {
  return standAll(
    transaction,
    await transaction.run(resumeRows, { job_id: jobId, gate_bit: gateBit }),
  );
}

const promoteRows = sql<MovedRow>`
  UPDATE items SET waits_on = ${gateOrTurn}, due_at = NULL
  WHERE id {amongIds} AND waits_on = 'time' ${moved}`;

/** Items whose time has come go back to the queue. */
export async function promoteDue(
  transaction: Transaction,
  { now, limit, gateBit }: { now: number; limit: number; gateBit: number },
): Promise<MovedRow[]> {
  const ids = JSON.stringify(await popTimers(transaction, now, limit));
  return standAll(transaction, await transaction.run(promoteRows, { ids, gate_bit: gateBit }));
}

const wakeRows = sql<MovedRow>`
  UPDATE items SET waits_on = CASE WHEN (SELECT state FROM jobs WHERE jobs.id = items.job_id)
    = 'paused' THEN 'person' ELSE 'turn' END
  WHERE id {amongIds} AND waits_on = 'task' ${moved}`;

/** The batch task that items waited for has ended for them. */
export async function wakeFromTask(
  transaction: Transaction,
  ids: readonly number[],
): Promise<MovedRow[]> {
  return standAll(transaction, await transaction.run(wakeRows, { ids: JSON.stringify(ids) }));
}

const admitRow = sqlRows({ id: 'int', waits_on: 'text', due_at: 'int' })<{ id: number }>`
  UPDATE items SET waits_on = :waits_on, due_at = :due_at, gate_held = 1 {rows}
  WHERE items.id = :id AND items.waits_on = 'gate'
  RETURNING items.id`;

/** Lets items through their gate: at once, or at the time its pace allows. */
export async function admit(
  transaction: Transaction,
  items: readonly { id: number; rank: number; dueAt: number | null }[],
): Promise<void> {
  const admitted = items.map((item) => ({
    ...item,
    gate: null,
    waitsOn: item.dueAt === null ? ('turn' as const) : ('time' as const),
  }));
  await transaction.hits(
    admitRow,
    admitted.map(({ id, waitsOn, dueAt }) => ({ id, waits_on: waitsOn, due_at: dueAt })),
  );
  await stand(transaction, admitted);
}

const takeFromWorker = sql<MovedRow>`
  UPDATE items SET waits_on = 'turn', worker = NULL, epoch = epoch + 1,
    crashes = CASE WHEN :spares = 1 AND EXISTS (SELECT 1 FROM handoffs
      WHERE handoffs.item_id = items.id AND handoffs.answered_at IS NULL)
      THEN crashes ELSE crashes + :crash END
  WHERE id {amongIds} AND worker = :worker AND waits_on = 'worker' AND moved_at <= :moved_before
    AND NOT EXISTS (SELECT 1 FROM handoffs WHERE handoffs.item_id = items.id
      AND (handoffs.beat_at >= :beat_after OR handoffs.answered_at > :moved_before))
  ${moved}`;

export interface TakenLeases {
  readonly worker: string;
  /** Whether each item is to remember it. */
  readonly crash: boolean;
  /** Only of items that have not moved since, and that nobody elsewhere is seen to work on. */
  readonly stuck?: { readonly movedBefore: number; readonly beatAfter: number } | undefined;
}

const whatever = { movedBefore: Number.MAX_SAFE_INTEGER, beatAfter: Number.MAX_SAFE_INTEGER };

/**
 * Takes a worker's leases away. An item that a dead worker only waited for, with a question to a
 * service elsewhere, was not what killed it.
 */
export async function takeLeases(
  transaction: Transaction,
  { worker, crash, stuck }: TakenLeases,
): Promise<MovedRow[]> {
  const { movedBefore, beatAfter } = stuck ?? whatever;
  const ids = JSON.stringify(await claimedItems(transaction, worker));
  const rows = await transaction.run(takeFromWorker, {
    ...{ ids, worker, crash: crash ? 1 : 0, spares: stuck ? 0 : 1 },
    ...{ moved_before: movedBefore, beat_after: beatAfter },
  });
  return standAll(transaction, rows);
}

const handBackRow = sqlRows({ id: 'int', epoch: 'int' })<MovedRow>`
  UPDATE items SET waits_on = 'turn', worker = NULL, epoch = items.epoch + 1 {rows}
  WHERE items.id = :id AND items.epoch = :epoch
  RETURNING items.id, ${movedColumns}`;

/** Puts leases back into the queue whose holder does not know what became of its report. */
export async function handBack(
  transaction: Transaction,
  leases: readonly { id: number; epoch: number }[],
): Promise<void> {
  await standAll(transaction, await transaction.each(handBackRow, leases));
}

/** The updated rows take their places in the queue they now wait in. */
async function standAll(transaction: Transaction, rows: MovedRow[]): Promise<MovedRow[]> {
  await stand(
    transaction,
    rows.map((row) => ({ ...row, waitsOn: row.waits_on, dueAt: null })),
  );
  return rows;
}

const failRow = sqlRows({ id: 'int', error: 'json', now: 'int' })<{ id: number }>`
  UPDATE items SET step = 'failed', waits_on = NULL, epoch = items.epoch + 1, gate_held = 0,
    error = :error, failed_at = :now, moved_at = :now {rows}
  WHERE items.id = :id AND items.waits_on = 'turn'
  RETURNING items.id`;

/** Ends items that nobody holds: those that killed their worker too often. */
export async function failUnheld(
  transaction: Transaction,
  items: readonly { id: number; rank: number; error: string }[],
  now: number,
): Promise<void> {
  await leaveTurns(transaction, items);
  await transaction.hits(
    failRow,
    items.map(({ id, error }) => ({ id, error, now })),
  );
}

/** An open item, whoever holds it or whatever it waits on. */
export interface OpenRow extends MovedRow {
  readonly attempt: number;
  readonly worker: string | null;
}

const openOfJob = sql<OpenRow>`
  SELECT id, ${movedColumns}, attempt, worker
  FROM items WHERE job_id = :job_id AND waits_on IS NOT NULL ORDER BY id LIMIT :limit {forUpdate}`;

/** Some of the open items of a job. Nobody else moves them until the commit. */
export function lockOpenOfJob(
  transaction: Transaction,
  page: { jobId: number; limit: number },
): Promise<OpenRow[]> {
  return transaction.run(openOfJob, { job_id: page.jobId, limit: page.limit });
}

const failOpenRow = sqlRows({ id: 'int', error: 'json', now: 'int' })<{ id: number }>`
  UPDATE items SET step = 'failed', waits_on = NULL, worker = NULL, due_at = NULL, gate_held = 0,
    epoch = items.epoch + 1, error = :error, failed_at = :now, moved_at = :now {rows}
  WHERE items.id = :id AND items.waits_on IS NOT NULL
  RETURNING items.id`;

/** Ends items that are locked as open, whoever holds them: the holder is fenced off. */
export async function failOpen(
  transaction: Transaction,
  items: readonly { id: number; error: string }[],
  now: number,
): Promise<void> {
  await leaveQueuesOfItems(transaction, JSON.stringify(items.map(({ id }) => id)));
  await transaction.hits(
    failOpenRow,
    items.map(({ id, error }) => ({ id, error, now })),
  );
}
