/** Reading jobs. A job's `status` is derived from its items here, and stored nowhere. */
import { item as itemLifecycle, type Lifecycle } from '../../kernel/lifecycle/item.ts';
import { isPartial, type JobState, jobActions, type Sweep } from '../../kernel/lifecycle/job.ts';
import type { StageState } from '../../kernel/lifecycle/stage.ts';
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface JobRow {
  readonly id: number;
  readonly key: string;
  readonly caller: string;
  /** What was known of the caller when it was accepted; null where nobody said. */
  readonly caller_type: string | null;
  readonly caller_tier: string | null;
  readonly corpus: string;
  readonly type: 'ingest' | 'crawl' | 'reembed' | 'rechunk';
  readonly url: string | null;
  readonly force: number;
  readonly priority: number;
  readonly lane: 'now' | 'cheap';
  readonly state: JobState;
  readonly items_total: number;
  readonly items_done: number;
  readonly items_failed: number;
  readonly items_canceled: number;
  readonly items_waiting: number;
  readonly documents_emitted: number;
  readonly chunks_indexed: number;
  readonly tokens_estimated: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_cents: number;
  /** Tokens among them whose price nobody knows. */
  readonly tokens_unpriced: number;
  /** What was not paid, because it had been before. */
  readonly tokens_saved: number;
  readonly saved_cents: number;
  readonly budget_cents: number | null;
  readonly pause_reason: string | null;
  /** What is still being carried out on its items, if anything. */
  readonly sweep: Sweep | null;
  /** How long it may run, and when that time is over; null while its clock stands. */
  readonly max_wall_seconds: number;
  readonly deadline_at: number | null;
  readonly failed_stage: string | null;
  /** What it failed with; while it waits for a retry, what it waits after. */
  readonly error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly canceled_at: number | null;
  /** How often it was started after a wait, or retried, and once more. */
  readonly attempt: number;
  readonly items_retried: number;
  /** Work of past spans; of those, what runs before the last retry took; the present span. */
  readonly worked_ms: number;
  readonly worked_before_ms: number;
  readonly working_since: number | null;
}

const byKey = sql<JobRow>`SELECT * FROM jobs WHERE key = :key`;
const byId = sql<JobRow>`SELECT * FROM jobs WHERE id = :id`;
const lockById = sql<JobRow>`SELECT * FROM jobs WHERE id = :id {forUpdate}`;
const lockByKey = sql<JobRow>`SELECT * FROM jobs WHERE key = :key {forUpdate}`;

export async function getJob(reader: Reader, key: string): Promise<JobRow | undefined> {
  return (await reader.run(byKey, { key }))[0];
}

export async function getJobById(reader: Reader, id: number): Promise<JobRow | undefined> {
  return (await reader.run(byId, { id }))[0];
}

/** Reads a job that the transaction is about to change. */
export async function lockJob(reader: Reader, key: string): Promise<JobRow | undefined> {
  return (await reader.run(lockByKey, { key }))[0];
}

export async function lockJobById(reader: Reader, id: number): Promise<JobRow | undefined> {
  return (await reader.run(lockById, { id }))[0];
}

const swept = sql<{ id: number; sweep: Sweep }>`
  SELECT id, sweep FROM jobs WHERE sweep IS NOT NULL ORDER BY id LIMIT :limit`;

/** Jobs with items that a command has still to be carried out on. */
export function listSweeps(
  reader: Reader,
  limit: number,
): Promise<{ readonly id: number; readonly sweep: Sweep }[]> {
  return reader.run(swept, { limit });
}

const overdue = sql<{ id: number }>`
  SELECT id FROM jobs WHERE deadline_at <= :now ORDER BY deadline_at LIMIT :limit`;

/** Jobs that have run for longer than they may. */
export function listOverdue(
  reader: Reader,
  page: { now: number; limit: number },
): Promise<{ id: number }[]> {
  return reader.run(overdue, page);
}

const newestFirst = 'id < :before ORDER BY id DESC LIMIT :limit';
const listAll = sql<JobRow>`SELECT * FROM jobs WHERE caller = :caller AND ${newestFirst}`;
const listOfCorpus = sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller AND corpus = :corpus AND ${newestFirst}`;
const listOfState = sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller AND state = :state AND ${newestFirst}`;
const listOfBoth = sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller AND corpus = :corpus AND state = :state
    AND ${newestFirst}`;

export interface JobFilter {
  readonly caller: string;
  readonly corpus?: string | undefined;
  readonly state?: JobState | undefined;
  /** Only jobs older than this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** A caller's jobs, newest first. */
export function listJobs(reader: Reader, filter: JobFilter): Promise<JobRow[]> {
  const { corpus, state } = filter;
  const both = corpus !== undefined && state !== undefined;
  const one = corpus !== undefined ? listOfCorpus : state !== undefined ? listOfState : listAll;
  return reader.run(both ? listOfBoth : one, {
    ...filter,
    before: filter.before ?? Number.MAX_SAFE_INTEGER,
  });
}

const openOfCorpus = sql<JobRow>`
  SELECT * FROM jobs WHERE ended_at IS NULL
    AND ((caller = :caller AND corpus = :corpus) OR corpus = :corpus || '@' || :caller)
  ORDER BY id DESC LIMIT 1`;

/** An open job of any caller on a corpus of this namespace. */
export async function findOpenJob(
  reader: Reader,
  caller: string,
  corpus: string,
): Promise<JobRow | undefined> {
  return (await reader.run(openOfCorpus, { caller, corpus }))[0];
}

const openProgress = sql<{ job_id: number; progress: number }>`
  SELECT job_id, progress FROM items WHERE job_id {amongIds} AND waits_on IS NOT NULL
  GROUP BY job_id, progress`;

const statusOfEnd: Partial<Record<JobState, StageState>> = {
  succeeded: 'done',
  failed: 'failed',
  canceled: 'canceled',
};

/** How far the open items of a job are: each set of reached steps once. */
export async function openProgressOf(reader: Reader, jobId: number): Promise<number[]> {
  const sets = await reader.run(openProgress, { ids: JSON.stringify([jobId]) });
  return sets.map(({ progress }) => progress);
}

/** The earliest stage that an unfinished item of each job is in: one question for all of them. */
export async function statusesOf(
  reader: Reader,
  rows: readonly JobRow[],
  lifecycle: Lifecycle = itemLifecycle,
): Promise<StageState[]> {
  const isMoving = (row: JobRow): boolean => row.started_at !== null && !statusOfEnd[row.state];
  const ids = rows.filter(isMoving).map(({ id }) => id);
  const sets = ids.length === 0 ? [] : await reader.run(openProgress, { ids: JSON.stringify(ids) });
  const byJob = Map.groupBy(sets, ({ job_id }) => job_id);
  return rows.map((row) => {
    const progress = byJob.get(row.id)?.map((set) => set.progress) ?? [];
    return statusFrom(row, progress, lifecycle);
  });
}

/** The same where the progress of the job's open items is known already. */
export function statusFrom(
  row: JobRow,
  openProgressSets: readonly number[],
  lifecycle: Lifecycle = itemLifecycle,
): StageState {
  const ended = statusOfEnd[row.state];
  if (ended) return ended;
  if (row.started_at === null) return 'pending';
  const next = openProgressSets.map((progress) => lifecycle.ready(progress)[0]);
  return lifecycle.steps.find(({ step }) => next.includes(step))?.stage ?? 'embedding';
}

/** The actions that a person may take on the job now. */
export function actionsOfJob(row: JobRow): ReturnType<typeof jobActions> {
  return jobActions(row.state, { failed: row.items_failed, canceled: row.items_canceled });
}

export function isPartialJob(row: JobRow): boolean {
  return isPartial({
    total: row.items_total,
    done: row.items_done,
    failed: row.items_failed,
    canceled: row.items_canceled,
    waiting: row.items_waiting,
  });
}

const openCrawl = sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller AND corpus = :corpus AND type = 'crawl' AND url = :url
    AND ended_at IS NULL ORDER BY id DESC LIMIT 1`;

/** The newest crawl from this address that has not ended. */
export async function findOpenCrawl(
  reader: Reader,
  filter: { caller: string; corpus: string; url: string },
): Promise<JobRow | undefined> {
  return (await reader.run(openCrawl, filter))[0];
}

const openReembedding = sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller AND corpus = :corpus AND type = 'reembed'
    AND ended_at IS NULL ORDER BY id DESC LIMIT 1`;

/** The open job that embeds a corpus again, if there is one. */
export async function findOpenReembedding(
  reader: Reader,
  { caller, corpus }: { caller: string; corpus: string },
): Promise<JobRow | undefined> {
  return (await reader.run(openReembedding, { caller, corpus }))[0];
}
