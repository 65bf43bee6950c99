/**
 * The moves of items (`itemMoves`) that people, commands, clocks, gates and batch tasks make. A
 * move that takes an item from its holder raises the epoch, so the holder is fenced off.
 */

import {
  isCountedWaiting,
  itemMoves,
  type MoveTarget,
  place,
  type WaitsOn,
} from '../../kernel/lifecycle/item-wait.ts';
import { jobState, type Sweep } from '../../kernel/lifecycle/job.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { atPlaces } from './at-places.ts';
import { type CompiledMove, compileMove } from './compile-move.ts';
import { holdFencesOfItems, isWorkedOn, lockGates, sweptItems, takeFences } from './fence.ts';
import { leaveQueues, leaveTurns, popTimers, stand } from './queues.ts';

const beginAgain = ({ set, where }: CompiledMove) =>
  sqlRows({ id: 'int', step: 'text', waits_on: 'text', now: 'int' })<{ id: number }>`
  UPDATE items SET ${set}, attempt = 0, crashes = 0, lone_deaths = 0, stalls = 0, error = NULL,
    failed_at = NULL, due_at = NULL, moved_at = :now
  {rows}
  WHERE items.id = :id AND ${where}
  RETURNING items.id`;
const beginAgainRows = {
  retry: beginAgain(compileMove('retry', ':waits_on')),
  restart: beginAgain(compileMove('restart', ':waits_on')),
};

export interface Again {
  readonly id: number;
  readonly step: string;
  readonly rank: number;
  readonly gate: string | null;
  readonly waitsOn: MoveTarget<'retry' | 'restart'>;
}

/** Ended items continue from their progress: each alone, or together with their job. */
export async function retry(
  transaction: Transaction,
  { move, items, now }: Retry,
): Promise<boolean[]> {
  const hits = await transaction.hits(
    beginAgainRows[move],
    items.map(({ id, step, waitsOn }) => ({ id, step, waits_on: waitsOn, now })),
  );
  await stand(
    transaction,
    items.filter((_, index) => hits[index]).map((item) => ({ ...item, dueAt: null })),
  );
  return hits;
}

export interface Retry {
  readonly move: keyof typeof beginAgainRows;
  readonly items: readonly Again[];
  readonly now: number;
}

const discarding = compileMove('discard');
const discardRow = sqlRows({ id: 'int', now: 'int' })<{ id: number }>`
  UPDATE items SET ${discarding.set}, failed_at = NULL, moved_at = :now {rows}
  WHERE items.id = :id AND ${discarding.where}
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
  /** Those of them that held no other item. */
  readonly lone_deaths: number;
  /** How often it was taken from a live worker because it did not progress. */
  readonly stalls: number;
  readonly source: string;
}

export const movedColumns = `job_id, document_id, gate, gate_held, rank, waits_on, progress,
  crashes, lone_deaths, stalls, source`;
export const moved = `RETURNING id, ${movedColumns}`;

const openColumns = `id, ${movedColumns}, attempt, worker`;

/** An open item, at any place. */
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

/** Some items of a job that a sweep moves, without those that another transaction has locked. */
export function lockSwept(transaction: Transaction, page: SweepPage): Promise<OpenRow[]> {
  const statement = lockParts[page.sweep][page.part];
  if (!statement) throw new Error(`a sweep of ${page.sweep} has no part ${page.part}`);
  return transaction.run(statement, { job_id: page.jobId, after: page.after, limit: page.limit });
}

const canceling = compileMove('cancel');
const cancelRows = sql<never, 'ids' | 'now'>`
  UPDATE items SET ${canceling.set}, worker = NULL, due_at = NULL, gate_held = 0, moved_at = :now
  WHERE id {amongIds} AND ${canceling.where}`;

/** Ends items that are locked as open. A holder is fenced off. */
export async function cancelLocked(
  transaction: Transaction,
  items: readonly { readonly id: number }[],
  now: number,
): Promise<void> {
  const ids = idsOf(items);
  await leaveQueues(transaction, ids);
  await transaction.run(cancelRows, { ids, now });
}

const canBeCanceled = atPlaces(itemMoves.cancel.from);
const ofDocuments = sql<{ id: number; job_id: number; gate: string | null }>`
  SELECT id, job_id, gate FROM items
  WHERE document_id {amongKeys} AND ${canBeCanceled}`;
const lockOfDocuments = sql<OpenRow & { is_counted: number; is_worked_on: number }>`
  SELECT ${openColumns},
    CASE WHEN (SELECT jobs.ended_at FROM jobs WHERE jobs.id = items.job_id) IS NULL
      THEN 1 ELSE 0 END AS is_counted,
    CASE WHEN ${isWorkedOn} THEN 1 ELSE 0 END AS is_worked_on
  FROM items WHERE document_id {amongKeys} AND ${canBeCanceled}
  ORDER BY id {forUpdate}`;

/**
 * Ends all open items of documents: a late report must not bring back a deleted document.
 * `canceled` and `waiting` name the job of each item that changes its counts.
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
  // Before the items: a transaction that admits one of them holds its gate.
  await lockGates(
    transaction,
    found.flatMap(({ gate }) => gate ?? []),
  );
  const items = await transaction.run(lockOfDocuments, { keys });
  const waits = items.filter(isCountedWaiting);
  await cancelLocked(transaction, items, now);
  return {
    items,
    canceled: items.filter(({ is_counted }) => is_counted === 1).map(({ job_id }) => job_id),
    waiting: waits.filter(({ is_worked_on }) => is_worked_on === 1).map(({ job_id }) => job_id),
  };
}

const pausing = compileMove('pause');
const pauseRows = sql<never, 'ids'>`
  UPDATE items SET ${pausing.set}, worker = NULL, due_at = NULL, gate_held = 0
  WHERE id {amongIds} AND ${pausing.where}`;

/** Items that are locked wait for a person from now on. A holder is fenced off. */
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

/** An item waits at its gate until it has reached the step that the gate guards. */
const isBeforeGate = 'gate IS NOT NULL AND gate_held = 0 AND (progress & :gate_bit) = 0';

const resuming = compileMove('resume', { gate: isBeforeGate });
const resumeRows = sql<MovedRow, 'ids' | 'gate_bit'>`
  UPDATE items SET ${resuming.set} WHERE id {amongIds} AND ${resuming.where} ${moved}`;

/** Items that waited for a person go back to the queue. */
export async function resumeLocked(
  transaction: Transaction,
  items: readonly { readonly id: number }[],
  gateBit: number,
): Promise<void> {
  const rows = await transaction.run(resumeRows, { ids: idsOf(items), gate_bit: gateBit });
  await standAll(transaction, rows);
}

const waking = compileMove('wake', { gate: isBeforeGate });
const wakeRows = sql<MovedRow, 'ids' | 'gate_bit'>`
  UPDATE items SET ${waking.set}, due_at = NULL WHERE id {amongIds} AND ${waking.where} ${moved}`;

/** Items whose time has come go back to the queue. A sweep moves those of a stopped job. */
export async function wakeItems(
  transaction: Transaction,
  { now, limit, gateBit }: { now: number; limit: number; gateBit: number },
): Promise<MovedRow[]> {
  const ids = JSON.stringify(await popTimers(transaction, now, limit));
  await holdFencesOfItems(transaction, ids);
  return standAll(transaction, await transaction.run(wakeRows, { ids, gate_bit: gateBit }));
}

const isJobPaused = `(SELECT jobs.state FROM jobs WHERE jobs.id = items.job_id)
  = '${jobState.paused}'`;
const answering = compileMove('answer', { person: isJobPaused });
const answerRows = sql<MovedRow, 'ids'>`
  UPDATE items SET ${answering.set} WHERE id {amongIds} AND ${answering.where} ${moved}`;

/** The batch task that items waited on has answered all their lines. */
export async function wakeFromTask(
  transaction: Transaction,
  ids: readonly number[],
): Promise<MovedRow[]> {
  const woken = { ids: JSON.stringify(ids) };
  await holdFencesOfItems(transaction, woken.ids);
  return standAll(transaction, await transaction.run(answerRows, woken));
}

const admitting = compileMove('admit', ':waits_on');
const admitRow = sqlRows({ id: 'int', waits_on: 'text', due_at: 'int' })<{ id: number }>`
  UPDATE items SET ${admitting.set}, due_at = :due_at, gate_held = 1 {rows}
  WHERE items.id = :id AND ${admitting.where}
  RETURNING items.id`;

/** Admits items at their gate: now, or at the time that its interval allows. */
export async function admit(
  transaction: Transaction,
  items: readonly { id: number; rank: number; dueAt: number | null }[],
): Promise<void> {
  const admitted = items.map((item) => ({
    ...item,
    gate: null,
    waitsOn: item.dueAt === null ? place.turn : place.time,
  }));
  await transaction.hits(
    admitRow,
    admitted.map(({ id, waitsOn, dueAt }) => ({ id, waits_on: waitsOn, due_at: dueAt })),
  );
  await stand(transaction, admitted);
}

/** Enqueues the updated rows where they now wait. */
export async function standAll(transaction: Transaction, rows: MovedRow[]): Promise<MovedRow[]> {
  await stand(
    transaction,
    rows.map((row) => ({ ...row, waitsOn: row.waits_on, dueAt: null })),
  );
  return rows;
}

const endRow = ({ set, where }: CompiledMove) =>
  sqlRows({ id: 'int', attempt: 'int', error: 'json', now: 'int' })<{ id: number }>`
  UPDATE items SET ${set}, worker = NULL, due_at = NULL, gate_held = 0, attempt = :attempt,
    error = :error, failed_at = :now, moved_at = :now {rows}
  WHERE items.id = :id AND ${where}
  RETURNING items.id`;
const condemnRow = endRow(compileMove('condemn'));
const expireRow = endRow(compileMove('expire'));

export interface FailedItem {
  readonly id: number;
  /** How often its step was tried. */
  readonly attempt: number;
  readonly error: string;
}

/** Ends items that were taken from too many workers, and that no worker holds. */
export async function failUnheld(
  transaction: Transaction,
  items: readonly (FailedItem & { rank: number; lone_deaths: number })[],
  now: number,
): Promise<void> {
  await leaveTurns(transaction, items);
  await transaction.hits(
    condemnRow,
    items.map(({ id, attempt, error }) => ({ id, attempt, error, now })),
  );
}

/** Ends items that are locked as open. A holder is fenced off. */
export async function failOpen(
  transaction: Transaction,
  items: readonly FailedItem[],
  now: number,
): Promise<void> {
  await leaveQueues(transaction, idsOf(items));
  await transaction.hits(
    expireRow,
    items.map(({ id, attempt, error }) => ({ id, attempt, error, now })),
  );
}
