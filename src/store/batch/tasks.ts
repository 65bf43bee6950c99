/**
 * Batch tasks, and the only writer of their `state`; its moves are the table in
 * `kernel/lifecycle/batch-task.ts`.
 * A process that works on a task has taken it, which raised its epoch; every later write is a
 * compare-and-set on that epoch and on the state. A second submitter or reconciler of the same task
 * changes nothing.
 */
import {
  type BatchTaskEvent,
  type BatchTaskState,
  batchTask,
  batchTaskEvents,
  batchTaskMoves,
  openTaskStates,
} from '../../kernel/lifecycle/batch-task.ts';
import { sqlList, transition } from '../../kernel/lifecycle/machine.ts';
import {
  checkProviderState,
  type JsonObject,
  type ProviderState,
} from '../../kernel/provider-state.ts';
import type { NewEvent } from '../../observe/event.ts';
import { appendEvents } from '../delivery/events.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { compileStateMove } from './compile-move.ts';

export interface BatchTaskRow {
  readonly id: number;
  readonly key: string;
  readonly caller: string;
  readonly task_type: string;
  readonly provider: string | null;
  readonly state: BatchTaskState;
  readonly input: string;
  /** What the submission has noted so far: ids of jobs, files that were uploaded. */
  readonly submission: string;
  readonly provider_state: string | null;
  readonly output_key: string | null;
  readonly error: string | null;
  readonly epoch: number;
  readonly attempt: number;
  readonly next_at: number;
  readonly poll_errors: number;
  /** Its jobs are being ended at the provider; what they have brought is still to be collected. */
  readonly is_cancel_due: number;
  /** The providers that it needs, by name, with commas; null: not known yet. */
  readonly served_by: string | null;
  /** Waits in a row, and why the last one is. */
  readonly waits: number;
  readonly wait_reason: string | null;
  readonly results_ok: number;
  readonly results_failed: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly submitted_at: number | null;
  readonly ended_at: number | null;
}

export interface NewBatchTask {
  readonly key: string;
  readonly caller: string;
  readonly taskType: string;
  readonly provider: string | null;
  /** The providers that its jobs need. */
  readonly servedBy: string;
  readonly input: JsonObject;
  readonly now: number;
}

const insert = sql<{ id: number }>`
  INSERT INTO batch_tasks (key, caller, task_type, provider, served_by, state, input, submission,
    next_at, created_at, updated_at)
  VALUES (:key, :caller, :task_type, :provider, :served_by, '${batchTask.initial}', :input, '{}',
    :now, :now, :now)
  RETURNING id`;

/** The intent is on disk before any provider hears of it. */
export async function insertBatchTask(
  transaction: Transaction,
  task: NewBatchTask,
): Promise<number> {
  const { key, caller, taskType, provider, servedBy, now } = task;
  const row = { key, caller, provider, now, task_type: taskType, served_by: servedBy };
  const [inserted] = await transaction.run(insert, { ...row, input: JSON.stringify(task.input) });
  const detail = { task_id: key, task_type: taskType, provider, caller };
  await appendEvents(transaction, [{ kind: 'batch_task_created', jobId: null, detail }], now);
  return inserted?.id as number;
}

const open = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM batch_tasks
  WHERE caller = :caller AND state IN (${sqlList(openTaskStates)})`;

export async function countOpenTasks(reader: Reader, caller: string): Promise<number> {
  const [row] = await reader.run(open, { caller });
  return Number(row?.count ?? 0);
}

/** A task as the process that took it knows it. */
export interface Held {
  readonly id: number;
  readonly key: string;
  readonly state: BatchTaskState;
  readonly epoch: number;
}

/** What every write of a held task compares. */
type HeldName = 'id' | 'epoch' | 'state' | 'now';

const noteRow = sql<{ id: number }, HeldName | 'submission'>`
  UPDATE batch_tasks SET submission = :submission, updated_at = :now
  WHERE id = :id AND epoch = :epoch AND state = :state RETURNING id`;

/** Writes down how far a submission has come. False: the task was taken away. */
export async function noteSubmission(
  transaction: Transaction,
  { id, epoch, state }: Held,
  { submission, now }: { readonly submission: JsonObject; readonly now: number },
): Promise<boolean> {
  const parameters = { id, epoch, state, now, submission: JSON.stringify(submission) };
  return (await transaction.run(noteRow, parameters)).length > 0;
}

const laterRow = sql<{ id: number }, HeldName | 'next_at' | 'attempt' | 'reason'>`
  UPDATE batch_tasks SET next_at = :next_at, attempt = :attempt, waits = waits + 1,
    wait_reason = :reason, updated_at = :now
  WHERE id = :id AND epoch = :epoch AND state = :state RETURNING id`;

export interface Postponement {
  readonly nextAt: number;
  readonly attempt: number;
  readonly reason: string;
  readonly told?: NewEvent | undefined;
  readonly now: number;
}

/** Gives a task back until a time. False: it was taken away. */
export async function postpone(
  transaction: Transaction,
  { id, epoch, state }: Held,
  { nextAt, attempt, reason, told, now }: Postponement,
): Promise<boolean> {
  const parameters = { id, epoch, state, now, attempt, reason, next_at: nextAt };
  const isOurs = (await transaction.run(laterRow, parameters)).length > 0;
  if (isOurs && told) await appendEvents(transaction, [told], now);
  return isOurs;
}

/** What a move writes beside the state. Absent fields keep their value. */
export interface TaskChange {
  readonly event: BatchTaskEvent;
  readonly providerState?: ProviderState | undefined;
  readonly nextAt?: number | undefined;
  readonly outputKey?: string | undefined;
  readonly error?: JsonObject | undefined;
  readonly pollErrors?: number | undefined;
  readonly isCancelDue?: boolean | undefined;
  readonly submission?: JsonObject | undefined;
  /** Why it waits for longer than usual; absent: it does not, and earlier waits are over. */
  readonly wait?: string | undefined;
  readonly results?: Results | undefined;
  readonly told?: NewEvent | undefined;
  readonly now: number;
}

export interface Results {
  readonly ok: number;
  readonly failed: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

type ResultName = 'ok' | 'failed' | 'tokens_in' | 'tokens_out';
type MoveName =
  | ResultName
  | 'id'
  | 'epoch'
  | 'state'
  | 'provider_state'
  | 'next_at'
  | 'output_key'
  | 'error'
  | 'poll_errors'
  | 'is_cancel_due'
  | 'submission'
  | 'wait'
  | 'submitted_at'
  | 'ended_at'
  | 'now';

/** The state, the epoch and their conditions come from the row of the move. */
function moveRow(event: BatchTaskEvent) {
  const { set, where } = compileStateMove(batchTaskMoves[event]);
  return sql<{ id: number }, MoveName>`
  UPDATE batch_tasks SET ${set},
    provider_state = COALESCE(:provider_state, provider_state),
    next_at = COALESCE(:next_at, next_at), output_key = COALESCE(:output_key, output_key),
    error = COALESCE(:error, error), poll_errors = poll_errors + :poll_errors,
    is_cancel_due = :is_cancel_due, results_ok = results_ok + :ok,
    results_failed = results_failed + :failed, tokens_in = tokens_in + :tokens_in,
    tokens_out = tokens_out + :tokens_out, attempt = 0, updated_at = :now,
    submission = COALESCE(:submission, submission), wait_reason = :wait,
    waits = CASE WHEN CAST(:wait AS TEXT) IS NULL THEN 0 ELSE waits + 1 END,
    submitted_at = COALESCE(submitted_at, :submitted_at), ended_at = :ended_at
  WHERE id = :id AND state = :state AND ${where}
  RETURNING id`;
}

const moveRows = Object.fromEntries(
  batchTaskEvents.map((event) => [event, moveRow(event)]),
) as Readonly<Record<BatchTaskEvent, ReturnType<typeof moveRow>>>;

/**
 * Moves a task along its table, with its event. False: it is no longer where the mover believes, or
 * no longer the mover's. The table has no such move: that is a defect, and throws.
 */
export async function moveTask(
  transaction: Transaction,
  { id, state, epoch }: Held,
  change: TaskChange,
): Promise<boolean> {
  const to = transition(batchTask, state, change.event);
  if (to === undefined) throw new Error(`batch task ${id}: no ${change.event} in ${state}`);
  const { now, results, providerState } = change;
  const moved = await transaction.run(moveRows[change.event], {
    id,
    epoch,
    state,
    provider_state: providerState ? JSON.stringify(checkProviderState(providerState)) : null,
    next_at: change.nextAt ?? null,
    output_key: change.outputKey ?? null,
    error: change.error ? JSON.stringify(change.error) : null,
    poll_errors: change.pollErrors ?? 0,
    is_cancel_due: change.isCancelDue ? 1 : 0,
    submission: change.submission ? JSON.stringify(change.submission) : null,
    wait: change.wait ?? null,
    ok: results?.ok ?? 0,
    failed: results?.failed ?? 0,
    tokens_in: results?.tokensIn ?? 0,
    tokens_out: results?.tokensOut ?? 0,
    now,
    submitted_at: change.event === 'submit' ? now : null,
    ended_at: batchTask.final.includes(to) ? now : null,
  });
  if (moved.length === 0) return false;
  if (change.told) await appendEvents(transaction, [change.told], now);
  return true;
}

const lockRow = sql<BatchTaskRow>`SELECT * FROM batch_tasks WHERE key = :key {forUpdate}`;

/** Reads a task and keeps its holder from writing until this transaction ends. */
export async function lockTask(
  transaction: Transaction,
  key: string,
): Promise<BatchTaskRow | undefined> {
  return (await transaction.run(lockRow, { key }))[0];
}

const windDownRow = sql<{ id: number }>`
  UPDATE batch_tasks SET is_cancel_due = :is_due, next_at = :next_at,
    provider_state = COALESCE(:provider_state, provider_state), submission = :submission,
    output_key = COALESCE(:output_key, output_key), results_ok = results_ok + :ok,
    results_failed = results_failed + :failed, tokens_in = tokens_in + :tokens_in,
    tokens_out = tokens_out + :tokens_out, wait_reason = :wait, updated_at = :now,
    waits = CASE WHEN CAST(:wait AS TEXT) IS NULL THEN 0 ELSE waits + 1 END
  WHERE id = :id AND epoch = :epoch AND is_cancel_due = 1 RETURNING id`;

/** How far the jobs of a task that was given up have been ended at the provider. */
export interface WindDown {
  /** Why some job may still run; absent: none does. */
  readonly wait: string | undefined;
  readonly nextAt: number;
  readonly providerState: ProviderState | undefined;
  readonly submission: JsonObject;
  readonly outputKey: string | undefined;
  readonly results: Results;
  readonly now: number;
}

/** False: the task was taken away. Its state stays: it ended when it was given up. */
export async function recordWindDown(
  transaction: Transaction,
  { id, epoch }: Held,
  change: WindDown,
): Promise<boolean> {
  const { wait = null, nextAt, providerState, submission, outputKey, results, now } = change;
  const changed = await transaction.run(windDownRow, {
    id,
    epoch,
    now,
    wait,
    ok: results.ok,
    failed: results.failed,
    tokens_in: results.tokensIn,
    tokens_out: results.tokensOut,
    is_due: wait === null ? 0 : 1,
    next_at: nextAt,
    provider_state: providerState ? JSON.stringify(checkProviderState(providerState)) : null,
    submission: JSON.stringify(submission),
    output_key: outputKey ?? null,
  });
  return changed.length > 0;
}

const reopenRow = sql<never, 'id' | 'submission' | 'now'>`
  UPDATE batch_tasks SET submission = :submission, is_cancel_due = 1, epoch = epoch + 1,
    next_at = :now WHERE id = :id`;

/**
 * A submitter that lost its task reports the jobs that it began after the task had ended. They are
 * ended at the provider like the others.
 */
export async function reportLateJobs(
  transaction: Transaction,
  { key, ids, now }: { key: string; ids: Readonly<Record<number, string>>; now: number },
): Promise<void> {
  const [row] = await transaction.run(lockRow, { key });
  if (!row || !batchTask.final.includes(row.state)) return;
  const noted: Record<string, JsonObject> = JSON.parse(row.submission);
  for (const [index, id] of Object.entries(ids)) noted[index] = { ...noted[index], id };
  await transaction.run(reopenRow, { id: row.id, submission: JSON.stringify(noted), now });
}

const byKey = sql<BatchTaskRow>`SELECT * FROM batch_tasks WHERE key = :key AND caller = :caller`;
const listRows = sql<BatchTaskRow>`
  SELECT * FROM batch_tasks WHERE caller = :caller AND id < :before
    AND (CAST(:state AS TEXT) IS NULL OR state = :state)
  ORDER BY id DESC LIMIT :limit`;
const keysLike = sql<BatchTaskRow>`
  SELECT * FROM batch_tasks WHERE caller = :caller AND key LIKE :pattern ORDER BY id LIMIT 2`;

export async function getBatchTask(
  reader: Reader,
  key: string,
  caller: string,
): Promise<BatchTaskRow | undefined> {
  return (await reader.run(byKey, { key, caller }))[0];
}

/** Tasks whose id begins so: at most two, which is enough to see that it is not clear. */
export function findBatchTasks(
  reader: Reader,
  caller: string,
  start: string,
): Promise<BatchTaskRow[]> {
  // What no id begins with must not be shortened to something that one does.
  if (!/^[0-9a-f-]+$/i.test(start)) return Promise.resolve([]);
  return reader.run(keysLike, { caller, pattern: `${start.toLowerCase()}%` });
}

/** Newest first. */
export function listBatchTasks(
  reader: Reader,
  page: {
    readonly caller: string;
    readonly state?: BatchTaskState | undefined;
    readonly before?: number | undefined;
    readonly limit: number;
  },
): Promise<BatchTaskRow[]> {
  const { caller, state = null, before = Number.MAX_SAFE_INTEGER, limit } = page;
  return reader.run(listRows, { caller, state, before, limit });
}

/** The stored state of a task's jobs; undefined where it has none. Throws where it is damaged. */
export function providerStateOf({ provider_state }: BatchTaskRow): ProviderState | undefined {
  return provider_state === null ? undefined : checkProviderState(JSON.parse(provider_state));
}

const oldestOpen = sql<{ created_at: number | null }>`
  SELECT MIN(created_at) AS created_at FROM batch_tasks
  WHERE state IN (${sqlList(openTaskStates)})`;

/** When the oldest task that has not ended was made: what it needs is not older. */
export async function oldestOpenTask(reader: Reader): Promise<number | undefined> {
  const [row] = await reader.run(oldestOpen);
  return row?.created_at ?? undefined;
}
