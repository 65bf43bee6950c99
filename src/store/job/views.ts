/** Jobs as callers look at them: lists with filters, and how far the items of one have come. */
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { type JobState, job as jobMachine, jobState } from '../../kernel/lifecycle/job.ts';
import type { Reader } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import type { JobRow } from './jobs.ts';

export interface JobPage {
  readonly caller: string;
  readonly corpus?: string | undefined;
  readonly state?: JobState | undefined;
  readonly failedStage?: string | undefined;
  /** Only jobs that were created at this time or later, and before that one. */
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** Only jobs older than this id. */
  readonly before: number;
  readonly limit: number;
}

/** One statement for each set of filters, so that each is served by its index. */
const filters = {
  corpus: 'AND corpus = :corpus',
  state: 'AND state = :state',
  failed: `AND state = '${jobState.failed}' AND failed_stage = :failed_stage`,
  created: 'AND created_at >= :created_from AND created_at < :created_before',
};
const listOf = (...parts: readonly string[]) => sql<JobRow>`
  SELECT * FROM jobs WHERE caller = :caller ${parts.join(' ')} ${filters.created} AND id < :before
  ORDER BY id DESC LIMIT :limit`;
const lists = {
  all: listOf(),
  corpus: listOf(filters.corpus),
  state: listOf(filters.state),
  'corpus state': listOf(filters.corpus, filters.state),
  failed: listOf(filters.failed),
  'corpus failed': listOf(filters.corpus, filters.failed),
};

/** A caller's jobs, newest first. A failed stage says that the state is failed. */
export function listJobPage(reader: Reader, page: JobPage): Promise<JobRow[]> {
  const { caller, corpus, state, failedStage, before, limit } = page;
  const second = failedStage !== undefined ? 'failed' : state !== undefined ? 'state' : undefined;
  const name = [corpus === undefined ? undefined : 'corpus', second].filter(Boolean).join(' ');
  const statement = lists[(name || 'all') as keyof typeof lists];
  return reader.run(statement, {
    caller,
    before,
    limit,
    corpus: corpus ?? null,
    state: state ?? null,
    created_from: page.createdFrom ?? 0,
    created_before: page.createdBefore ?? Number.MAX_SAFE_INTEGER,
    failed_stage: failedStage ?? null,
  });
}

const ofStates = sql<{ state: JobState; count: number }>`
  SELECT state, COUNT(*) AS count FROM (
    SELECT state, corpus FROM jobs WHERE caller = :caller AND state = :state
    ORDER BY id DESC LIMIT :limit) AS newest
  WHERE CAST(:corpus AS TEXT) IS NULL OR corpus = :corpus
  GROUP BY state`;

/** How many of the newest jobs are in each state: of each, not more than the limit are read. */
export async function countJobsByState(
  reader: Reader,
  { caller, corpus, limit }: Pick<JobPage, 'caller' | 'corpus' | 'limit'>,
): Promise<[JobState, number][]> {
  const counted = await Promise.all(
    jobMachine.states.map((state) =>
      reader.run(ofStates, { caller, corpus: corpus ?? null, state, limit }),
    ),
  );
  return counted.flat().map(({ state, count }) => [state, count]);
}

export interface StandingRow {
  readonly step: string;
  readonly progress: number;
  readonly is_open: number;
  readonly count: number;
  readonly attempt: number;
  /** The next retry; waiting for the pace of a site is none. */
  readonly due_at: number | null;
  /** A failure that some of them wait after. */
  readonly waiting_code: string | null;
}

const standings = sql<StandingRow>`
  SELECT step, progress, CASE WHEN waits_on IS NULL THEN 0 ELSE 1 END AS is_open,
    COUNT(*) AS count, MAX(attempt) AS attempt,
    MIN(CASE WHEN waits_on = '${place.time}' AND error IS NOT NULL THEN due_at END) AS due_at,
    MAX(CASE WHEN waits_on = '${place.time}' THEN error ->> 'code' END) AS waiting_code
  FROM items WHERE job_id = :job_id GROUP BY 1, 2, 3`;

/** How many items of a job stand where. */
export function listStandings(reader: Reader, jobId: number): Promise<StandingRow[]> {
  return reader.run(standings, { job_id: jobId });
}

const withSequence = sql<JobRow & { sequence: number }>`
  SELECT jobs.*, (SELECT value FROM sequence WHERE name = 'events') AS sequence
  FROM jobs WHERE key = :key`;

/** A job, and the number of the last event of that moment: both of one snapshot. */
export async function getJobWithSequence(
  reader: Reader,
  key: string,
): Promise<(JobRow & { readonly sequence: number }) | undefined> {
  return (await reader.run(withSequence, { key }))[0];
}

export interface OwnerRow {
  readonly id: number;
  readonly key: string;
  readonly caller: string;
}

const owners = sql<OwnerRow>`SELECT id, key, caller FROM jobs WHERE id {amongIds}`;

export function listOwners(reader: Reader, ids: readonly number[]): Promise<OwnerRow[]> {
  return reader.run(owners, { ids: JSON.stringify(ids) });
}

const inFlight = sql<{ type: string; count: number }>`
  SELECT type, COUNT(*) AS count FROM jobs WHERE ended_at IS NULL GROUP BY type`;

export function countInFlight(reader: Reader): Promise<{ type: string; count: number }[]> {
  return reader.run(inFlight);
}
