/**
 * The other writer of an item's state: what is done to items by those who do not hold them. A
 * person cancels, pauses, resumes, retries, discards; a clock wakes; a gate admits; a rescuer takes
 * from the dead. Whoever takes an item from a holder raises its epoch, and the holder is fenced
 * off.
 */

import type { WaitsOn } from '../../kernel/lifecycle/item-wait.ts';
import type { Sweep } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { isSuspect } from '../../kernel/suspicion.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { holdFencesOfItems, isWorkedOn, lockGates, sweptItems, takeFences } from './fence.ts';
import { listLeases } from './items.ts';
import { claimedItems, leaveQueues, leaveTurns, popTimers, stand } from './queues.ts';

const beginAgain = sqlRows({ id: 'int', step: 'text', waits_on: 'text', now: 'int' })<{
  id: number;
}>`
  UPDATE items SET step = :step, waits_on = :waits_on, epoch = items.epoch + 1, attempt = 0,
    crashes = 0, lone_deaths = 0, stalls = 0, error = NULL, failed_at = NULL, due_at = NULL,
    moved_at = :now
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
  /** Workers that died while they held it, since its last committed step. */
  readonly crashes: number;
  /** Those of them that held nothing else. */
  readonly lone_deaths: number;
  /** How often it was taken from a living worker that it stood still at. */
  readonly stalls: number;
  readonly source: string;
}

const movedColumns = `job_id, document_id, gate, gate_held, rank, waits_on, progress, crashes,
  lone_deaths, stalls, source`;
const moved = `RETURNING id, ${movedColumns}`;

const openColumns = `id, ${movedColumns}, attempt, worker`;

/** An open item, whoever holds it or whatever it waits on. */
export interface OpenRow extends MovedRow {
  readonly attempt: number;
  readonly worker: string | null;
}

const lockPart = (part: string) => sql<OpenRow>`
  SELECT ${openColumns} FROM items WHERE job_id = :job_id AND id > :after AND ${part}
  ORDER BY id LIMIT :limit {skipLocked}`;
const lockParts = {
  cancel: sweptItems.cancel.map(lockPart),
  pause: sweptItems.pause.map(lockPart),
  resume: sweptItems.resume.map(lockPart),
};

export interface SweepPage {
  readonly jobId: number;
  readonly sweep: Sweep;
  /** Which part of `sweptItems`. */
  readonly part: number;
  readonly after: number;
  readonly limit: number;
}

/** Some items of a job that are to be moved, and that nobody is moving just now. */
export function lockSwept(transaction: Transaction, page: SweepPage): Promise<OpenRow[]> {
  const statement = lockParts[page.sweep][page.part];
  if (!statement) throw new Error(`a sweep of ${page.sweep} has no part ${page.part}`);
  return transaction.run(statement, { job_id: page.jobId, after: page.after, limit: page.limit });
}

const cancelRows = sql`
  UPDATE items SET step = 'canceled', waits_on = NULL, worker = NULL, due_at = NULL,
    gate_held = 0, epoch = epoch + 1, moved_at = :now
  WHERE id {amongIds}`;

/** Ends items that are locked as open, whoever holds them: the holder is fenced off. */
export async function cancelLocked(
  transaction: Transaction,
  items: readonly { readonly id: number }[],
  now: number,
): Promise<void> {
  const ids = idsOf(items);
  await leaveQueues(transaction, ids);
  await transaction.run(cancelRows, { ids, now });
}

const ofDocuments = sql<{ id: number; job_id: number; gate: string | null }>`
  SELECT id, job_id, gate FROM items
  WHERE document_id {amongKeys} AND waits_on IS NOT NULL`;
const lockOfDocuments = sql<OpenRow & { is_counted: number; is_worked_on: number }>`
  SELECT ${openColumns},
    CASE WHEN (SELECT jobs.ended_at FROM jobs WHERE jobs.id = items.job_id) IS NULL
      THEN 1 ELSE 0 END AS is_counted,
    CASE WHEN ${isWorkedOn} THEN 1 ELSE 0 END AS is_worked_on
  FROM items WHERE document_id {amongKeys} AND waits_on IS NOT NULL
  ORDER BY id {forUpdate}`;

/**
 * Ends all open items of documents: what is deleted must not come back by a late click. `canceled`
 * and `waiting` name the job of each item by which its counts change.
 */
export async function cancelOfDocuments(
  transaction: Transaction,
  documentIds: readonly string[],
  now: number,
): Promise<{ items: OpenRow[]; canceled: number[]; waiting: number[] }> {
  const keys = JSON.stringify(documentIds);
  const found = await transaction.run(ofDocuments, { keys });
  await takeFences(
    transaction,
    found.map(({ job_id }) => job_id),
  );
  // Before the items: who admits one of them holds its gate.
  await lockGates(
    transaction,
    found.flatMap(({ gate }) => gate ?? []),
  );
  const items = await transaction.run(lockOfDocuments, { keys });
  const waits = items.filter((row) => row.waits_on === 'time' && row.gate_held === 0);
  await cancelLocked(transaction, items, now);
  return {
    items,
    canceled: items.filter(({ is_counted }) => is_counted === 1).map(({ job_id }) => job_id),
    waiting: waits.filter(({ is_worked_on }) => is_worked_on === 1).map(({ job_id }) => job_id),
  };
}

const pauseRows = sql`
  UPDATE items SET waits_on = 'person', worker = NULL, due_at = NULL, gate_held = 0,
    epoch = epoch + 1
  WHERE id {amongIds}`;

/** Items that are locked wait for a person, whoever held them. */
export async function pauseLocked(
  transaction: Transaction,
  items: readonly { readonly id: number }[],
): Promise<void> {
  const ids = idsOf(items);
  await leaveQueues(transaction, ids);
  await transaction.run(pauseRows, { ids });
}

function idsOf(items: readonly { readonly id: number }[]): string {
  return JSON.stringify(items.map(({ id }) => id));
}

/** An item stands at its gate until the step that the gate guards is reached. */
const gateOrTurn = `CASE WHEN gate IS NOT NULL AND gate_held = 0 AND (progress & :gate_bit) = 0
  THEN 'gate' ELSE 'turn' END`;

const resumeRows = sql<MovedRow>`
  UPDATE items SET waits_on = ${gateOrTurn}, epoch = epoch + 1 WHERE id {amongIds} ${moved}`;

/** Items that waited for a person go back to the queue. */
export async function resumeLocked(
  transaction: Transaction,
  items: readonly { readonly id: number }[],
  gateBit: number,
): Promise<void> {
  const rows = await transaction.run(resumeRows, { ids: idsOf(items), gate_bit: gateBit });
  await standAll(transaction, rows);
}

const promoteRows = sql<MovedRow>`
  UPDATE items SET waits_on = ${gateOrTurn}, due_at = NULL
  WHERE id {amongIds} AND waits_on = 'time' AND ${isWorkedOn} ${moved}`;

/** Items whose time has come go back to the queue; those of a stopped job are left to its sweep. */
export async function promoteDue(
  transaction: Transaction,
  { now, limit, gateBit }: { now: number; limit: number; gateBit: number },
): Promise<MovedRow[]> {
  const ids = JSON.stringify(await popTimers(transaction, now, limit));
  await holdFencesOfItems(transaction, ids);
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
  const woken = { ids: JSON.stringify(ids) };
  await holdFencesOfItems(transaction, woken.ids);
  return standAll(transaction, await transaction.run(wakeRows, woken));
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

/** A worker that only waited, with a question to a service elsewhere, did not die of the item. */
const isCharged = `crashes >= :charged_from AND NOT EXISTS (SELECT 1 FROM handoffs
  WHERE handoffs.item_id = items.id AND handoffs.answered_at IS NULL)`;
const takeFromWorker = sql<MovedRow>`
  UPDATE items SET waits_on = 'turn', worker = NULL, epoch = epoch + 1, stalls = stalls + :stall,
    crashes = crashes + CASE WHEN ${isCharged} THEN 1 ELSE 0 END,
    lone_deaths = lone_deaths + CASE WHEN :alone = 1 AND ${isCharged} THEN 1 ELSE 0 END
  WHERE id {amongIds} AND worker = :worker AND waits_on = 'worker' AND moved_at <= :moved_before
    AND ${isWorkedOn} AND NOT EXISTS (SELECT 1 FROM handoffs WHERE handoffs.item_id = items.id
      AND (handoffs.beat_at >= :beat_after OR handoffs.answered_at > :moved_before))
  ${moved}`;

export interface TakenLeases {
  readonly worker: string;
  /** The worker has died, and the items are to remember it. */
  readonly isDead: boolean;
  /** Only of items that have not moved since, and that nobody elsewhere is seen to work on. */
  readonly stuck?: { readonly movedBefore: number; readonly beatAfter: number } | undefined;
}

const whatever = { movedBefore: Number.MAX_SAFE_INTEGER, beatAfter: Number.MAX_SAFE_INTEGER };

/** Takes a worker's leases away. If it died, its items are charged for it. */
export async function takeLeases(
  transaction: Transaction,
  { worker, isDead, stuck }: TakenLeases,
): Promise<MovedRow[]> {
  const { movedBefore: moved_before, beatAfter: beat_after } = stuck ?? whatever;
  const claimed = await claimedItems(transaction, worker);
  const ids = JSON.stringify(claimed);
  await holdFencesOfItems(transaction, ids);
  const charge = isDead ? await chargeFor(transaction, worker, claimed) : noCharge;
  const stall = stuck ? 1 : 0;
  const taken = { ids, worker, stall, moved_before, beat_after, ...charge };
  const rows = await transaction.run(takeFromWorker, taken);
  return standAll(transaction, rows);
}

interface Charge {
  /** Only items are charged that so many workers have died with already. */
  readonly charged_from: number;
  readonly alone: 0 | 1;
}

const noCharge: Charge = { charged_from: Number.MAX_SAFE_INTEGER, alone: 0 };

/**
 * Whom a death is charged to: the suspect, if there was one; otherwise everything in flight. A
 * suspect may have company that came when it had been alone for long.
 */
async function chargeFor(
  transaction: Transaction,
  worker: string,
  claimed: readonly number[],
): Promise<Charge> {
  const held = await listLeases(transaction, worker, claimed);
  const hasSuspect = held.some(({ crashes }) => isSuspect(crashes));
  return {
    charged_from: hasSuspect ? limits.suspect.crashesMin : 0,
    alone: hasSuspect && held.length === 1 ? 1 : 0,
  };
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

const failRow = sqlRows({ id: 'int', attempt: 'int', error: 'json', now: 'int' })<{ id: number }>`
  UPDATE items SET step = 'failed', waits_on = NULL, epoch = items.epoch + 1, gate_held = 0,
    attempt = :attempt, error = :error, failed_at = :now, moved_at = :now {rows}
  WHERE items.id = :id AND items.waits_on = 'turn'
  RETURNING items.id`;

export interface FailedItem {
  readonly id: number;
  /** How often its step was tried. */
  readonly attempt: number;
  readonly error: string;
}

/** Ends items that nobody holds: those that killed their worker too often. */
export async function failUnheld(
  transaction: Transaction,
  items: readonly (FailedItem & { rank: number; lone_deaths: number })[],
  now: number,
): Promise<void> {
  await leaveTurns(transaction, items);
  await transaction.hits(
    failRow,
    items.map(({ id, attempt, error }) => ({ id, attempt, error, now })),
  );
}

const failOpenRow = sqlRows({ id: 'int', attempt: 'int', error: 'json', now: 'int' })<{
  id: number;
}>`
  UPDATE items SET step = 'failed', waits_on = NULL, worker = NULL, due_at = NULL, gate_held = 0,
    epoch = items.epoch + 1, attempt = :attempt, error = :error, failed_at = :now,
    moved_at = :now {rows}
  WHERE items.id = :id AND items.waits_on IS NOT NULL
  RETURNING items.id`;

/** Ends items that are locked as open, whoever holds them: the holder is fenced off. */
export async function failOpen(
  transaction: Transaction,
  items: readonly FailedItem[],
  now: number,
): Promise<void> {
  await leaveQueues(transaction, idsOf(items));
  await transaction.hits(
    failOpenRow,
    items.map(({ id, attempt, error }) => ({ id, attempt, error, now })),
  );
}
