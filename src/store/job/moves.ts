/**
 * The only writer of a job's `state`; its moves are the table in `kernel/lifecycle/job.ts`. A job's
 * state follows from the counts of its items, which are updated here in the same transaction as the
 * items' own moves.
 */
import {
  beatingStates,
  beginsAttempt,
  clockStates,
  type JobEventName,
  type JobState,
  job as jobMachine,
  jobState,
  type Sweep,
} from '../../kernel/lifecycle/job.ts';
import { sqlList, statesBefore, transition } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { sweptItems } from '../item/fence.ts';

export interface NewJob {
  readonly key: string;
  readonly caller: string;
  readonly corpus: string;
  readonly type: 'ingest' | 'crawl' | 'reembed' | 'rechunk';
  readonly url: string | null;
  readonly force: boolean;
  readonly priority: number;
  readonly budgetCents?: number | undefined;
  /** Undefined means the default job timeout. */
  readonly maxWallSeconds?: number | undefined;
  /** Where its end is reported. */
  readonly webhookUrl?: string | undefined;
  readonly itemsTotal: number;
  readonly lane?: string | undefined;
  readonly submitter?: Submitter | undefined;
  readonly now: number;
}

/** What was known of the caller who submitted a job, beside its id. */
export interface Submitter {
  readonly type: string;
  readonly tier: string | null;
}

const insertJobRow = sql<
  { id: number },
  | 'key'
  | 'caller'
  | 'corpus'
  | 'type'
  | 'url'
  | 'force'
  | 'priority'
  | 'budget_cents'
  | 'lane'
  | 'webhook_url'
  | 'max_wall_seconds'
  | 'caller_type'
  | 'caller_tier'
  | 'items_total'
  | 'now'
>`
  INSERT INTO jobs (key, caller, corpus, type, url, force, priority, budget_cents, lane,
    webhook_url, max_wall_seconds, caller_type, caller_tier, state, items_total, created_at,
    updated_at)
  VALUES (:key, :caller, :corpus, :type, :url, :force, :priority, :budget_cents, :lane,
    :webhook_url, :max_wall_seconds, :caller_type, :caller_tier, '${jobMachine.initial}',
    :items_total, :now, :now)
  RETURNING id`;

export async function insertJob(transaction: Transaction, job: NewJob): Promise<number> {
  const { submitter } = job;
  const [row] = await transaction.run(insertJobRow, {
    key: job.key,
    caller: job.caller,
    corpus: job.corpus,
    type: job.type,
    url: job.url,
    force: job.force ? 1 : 0,
    priority: job.priority,
    budget_cents: job.budgetCents ?? null,
    webhook_url: job.webhookUrl ?? null,
    max_wall_seconds: job.maxWallSeconds ?? limits.job.wallClockMs / 1000,
    items_total: job.itemsTotal,
    lane: job.lane ?? 'now',
    caller_type: submitter?.type ?? null,
    caller_tier: submitter?.tier ?? null,
    now: job.now,
  });
  return row?.id as number;
}

export interface JobDelta {
  readonly id: number;
  done: number;
  failed: number;
  canceled: number;
  waiting: number;
  /** Items that began again after they had ended. */
  retried: number;
  documents: number;
  chunks: number;
  tokens: number;
  tokensIn: number;
  tokensOut: number;
  costCents: number;
  /** The last failure that an item of it waits after, as stored. */
  lastError?: string | undefined;
}

export interface JobCountsRow {
  readonly id: number;
  readonly type: NewJob['type'];
  readonly caller: string;
  readonly corpus: string;
  readonly state: JobState;
  readonly attempt: number;
  readonly items_total: number;
  readonly items_done: number;
  readonly items_failed: number;
  readonly items_canceled: number;
  readonly items_waiting: number;
}

const countRow = sqlRows({
  id: 'int',
  done: 'int',
  failed: 'int',
  canceled: 'int',
  waiting: 'int',
  retried: 'int',
  documents: 'int',
  chunks: 'int',
  tokens: 'int',
  tokens_in: 'int',
  tokens_out: 'int',
  cost_cents: 'real',
  now: 'int',
})<JobCountsRow>`
  UPDATE jobs SET items_done = items_done + :done, items_failed = items_failed + :failed,
    items_canceled = items_canceled + :canceled, items_waiting = items_waiting + :waiting,
    items_retried = items_retried + :retried,
    documents_emitted = documents_emitted + :documents, chunks_indexed = chunks_indexed + :chunks,
    tokens_estimated = tokens_estimated + :tokens,
    tokens_in = jobs.tokens_in + :tokens_in, tokens_out = jobs.tokens_out + :tokens_out,
    cost_cents = jobs.cost_cents + :cost_cents, updated_at = :now
  {rows}
  WHERE jobs.id = :id
  RETURNING jobs.id, type, caller, corpus, state, attempt, items_total, items_done, items_failed,
    items_canceled, items_waiting`;

export function countJobs(
  transaction: Transaction,
  deltas: readonly JobDelta[],
  now: number,
): Promise<JobCountsRow[]> {
  return transaction.each(
    countRow,
    deltas.map(({ tokensIn, tokensOut, costCents, lastError, ...counts }) => ({
      ...counts,
      tokens_in: tokensIn,
      tokens_out: tokensOut,
      cost_cents: costCents,
      now,
    })),
  );
}

const startableAmong = sql<{ id: number; state: JobState }, 'ids'>`
  SELECT id, state FROM jobs
  WHERE id {amongIds} AND state IN (${sqlList(statesBefore(jobMachine, 'start'))}) ORDER BY id`;

/**
 * An item of each of these jobs was claimed: those that were not running are now. The clock of a
 * job starts here, and stops when nothing of it may run: while it is queued, paused or ended.
 */
export async function startJobs(
  transaction: Transaction,
  ids: readonly number[],
  now: number,
): Promise<MovedJob[]> {
  const waiting = await transaction.run(startableAmong, { ids: JSON.stringify(ids) });
  if (waiting.length === 0) return [];
  return moveJobs(
    transaction,
    waiting.map(({ id, state }) => ({ id, from: state, event: 'start', now })),
  );
}

const moveJobRow = sqlRows({
  id: 'int',
  before: 'text',
  after: 'text',
  pause_reason: 'text',
  failed_stage: 'text',
  error: 'json',
  is_ended: 'int',
  is_canceled: 'int',
  is_timed: 'int',
  is_retry: 'int',
  attempts: 'int',
  now: 'int',
})<{ id: number; attempt: number; run_ms: number }>`
  UPDATE jobs SET state = :after, pause_reason = :pause_reason, failed_stage = :failed_stage,
    error = :error, updated_at = :now, attempt = attempt + :attempts,
    started_at = CASE WHEN :is_timed = 1 THEN COALESCE(started_at, :now) ELSE started_at END,
    ended_at = CASE WHEN :is_ended = 1 THEN :now ELSE NULL END,
    canceled_at = CASE WHEN :is_canceled = 1 THEN :now ELSE NULL END,
    deadline_at = CASE WHEN :is_timed = 1
      THEN COALESCE(deadline_at, :now + max_wall_seconds * 1000) ELSE NULL END,
    worked_ms = CASE WHEN :is_timed = 1 THEN worked_ms
      ELSE worked_ms + {greatest}(:now - COALESCE(working_since, :now), 0) END,
    worked_before_ms = CASE WHEN :is_retry = 1 THEN worked_ms ELSE worked_before_ms END,
    working_since = CASE WHEN :is_timed = 1 THEN COALESCE(working_since, :now) ELSE NULL END
  {rows}
  WHERE jobs.id = :id AND jobs.state = :before
  RETURNING jobs.id, jobs.attempt, worked_ms - worked_before_ms AS run_ms`;

export interface JobMove {
  readonly id: number;
  readonly from: JobState;
  readonly event: JobEventName;
  /** What it failed with, and where; or, without a stage, what it waits after. */
  readonly error?: { readonly stage?: string; readonly json: string } | undefined;
  /** Why it is paused, if no person asked for it. */
  readonly pauseReason?: string | undefined;
  readonly now: number;
}

export interface MovedJob {
  readonly id: number;
  readonly from: JobState;
  readonly to: JobState;
  readonly attempt: number;
  /** What it has worked since it was accepted, or retried for the last time. */
  readonly runMs: number;
}

/** Moves a job along its table. Undefined: the table, or a faster writer, forbids it. */
export async function moveJob(
  transaction: Transaction,
  move: JobMove,
): Promise<MovedJob | undefined> {
  return (await moveJobs(transaction, [move]))[0];
}

/** Moves jobs along their table. Returns those that moved. */
async function moveJobs(transaction: Transaction, moves: readonly JobMove[]): Promise<MovedJob[]> {
  const allowed = moves.flatMap((move) => {
    const to = transition(jobMachine, move.from, move.event);
    return to === undefined ? [] : [{ ...move, to }];
  });
  const rows = await transaction.each(moveJobRow, allowed.map(moveColumns));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return allowed.flatMap(({ id, from, to }) => {
    const row = byId.get(id);
    return row ? [{ id, from, to, attempt: row.attempt, runMs: row.run_ms }] : [];
  });
}

function moveColumns({ to, ...move }: JobMove & { readonly to: JobState }) {
  return {
    id: move.id,
    before: move.from,
    after: to,
    pause_reason: move.pauseReason ?? null,
    failed_stage: move.error?.stage ?? null,
    error: move.error?.json ?? null,
    is_ended: jobMachine.final.includes(to) ? 1 : 0,
    is_canceled: to === jobState.canceled ? 1 : 0,
    is_timed: clockStates.includes(to) ? 1 : 0,
    is_retry: move.event === 'retry' ? 1 : 0,
    attempts: beginsAttempt(move.from, move.event) ? 1 : 0,
    now: move.now,
  };
}

const beatJobRows = sql<never, 'ids' | 'now'>`
  UPDATE jobs SET updated_at = {greatest}(updated_at, :now) WHERE id IN (
    SELECT id FROM jobs
    WHERE id {amongIds} AND state IN (${sqlList(beatingStates)})
    ORDER BY id {skipLocked})`;

/**
 * A worker is at work on these jobs: `updated_at` is now. A locked job is being written to, and
 * needs no heartbeat.
 */
export async function beatJobs(
  transaction: Transaction,
  ids: readonly number[],
  now: number,
): Promise<void> {
  await transaction.run(beatJobRows, { ids: JSON.stringify(ids), now });
}

const growRow = sql<never, 'id' | 'count' | 'now'>`
  UPDATE jobs SET items_total = items_total + :count, updated_at = :now WHERE id = :id`;

/** A running job has found more to do. */
export async function growJob(
  transaction: Transaction,
  job: { readonly id: number; readonly count: number; readonly now: number },
): Promise<void> {
  await transaction.run(growRow, job);
}

const beginSweepRow = sql<never, 'id' | 'sweep' | 'now'>`
  UPDATE jobs SET sweep = :sweep, items_waiting = 0, updated_at = :now,
    items_canceled = CASE WHEN state = '${jobState.canceled}'
      THEN items_total - items_done - items_failed
      ELSE items_canceled END
  WHERE id = :id`;

/**
 * From this commit on the job counts as if the sweep were over: open items of a canceled job are
 * counted as canceled, and no item of a stopped one waits for a time.
 */
export async function beginSweep(
  transaction: Transaction,
  sweep: { readonly id: number; readonly sweep: Sweep; readonly now: number },
): Promise<void> {
  await transaction.run(beginSweepRow, sweep);
}

const endSweepRow = (sweep: Sweep) => sql<{ id: number }, 'id'>`
  UPDATE jobs SET sweep = NULL WHERE id = :id AND sweep = '${sweep}' AND NOT EXISTS (
    SELECT 1 FROM items WHERE items.job_id = :id AND (${sweptItems[sweep].join(' OR ')}))
  RETURNING id`;
const endSweepRows = {
  cancel: endSweepRow('cancel'),
  pause: endSweepRow('pause'),
  resume: endSweepRow('resume'),
};

/** False: items are left that the sweep has not moved. */
export async function endSweep(
  transaction: Transaction,
  { id, sweep }: { readonly id: number; readonly sweep: Sweep },
): Promise<boolean> {
  return (await transaction.run(endSweepRows[sweep], { id })).length > 0;
}

const budgetRow = sql<
  never,
  'id' | 'budget_cents'
>`UPDATE jobs SET budget_cents = :budget_cents WHERE id = :id`;

/** What the job may cost from now on, all that it has cost before included. */
export async function setJobBudget(
  transaction: Transaction,
  id: number,
  budgetCents: number,
): Promise<void> {
  await transaction.run(budgetRow, { id, budget_cents: budgetCents });
}
