/** The inbox by cause, and a few other queries on jobs and items. */

import { jobState, workingStates } from '../../kernel/lifecycle/job.ts';
import { sqlList } from '../../kernel/lifecycle/machine.ts';
import type { Reader } from '../driver/database.ts';
import type { Dialect } from '../driver/dialect.ts';
import { sql } from '../driver/statement.ts';
import type { JobRow } from '../job/jobs.ts';
import type { ItemRow } from './items.ts';

export interface CauseRow {
  readonly code: string;
  readonly count: number;
  readonly first_at: number;
  readonly last_at: number;
}

const counts = `error ->> 'code' AS code, COUNT(*) AS count, MIN(failed_at) AS first_at,
  MAX(failed_at) AS last_at`;
const byCause = 'GROUP BY 1 ORDER BY 2 DESC, 1';
/**
 * A failure leaves the inbox once a later submission of its document is indexed, or the document is
 * removed: nothing is left to do about it.
 */
const isInInbox = `items.failed_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM documents
      WHERE documents.id = items.document_id AND documents.as_of > items.id)
    AND NOT EXISTS (SELECT 1 FROM tombstones
      WHERE tombstones.document_id = items.document_id AND tombstones.as_of >= items.id)`;
const causes = sql<CauseRow>`
  SELECT ${counts} FROM items
  WHERE caller = :caller AND ${isInInbox}
    AND (CAST(:corpus AS TEXT) IS NULL OR corpus = :corpus) ${byCause}`;
const causesOfJob = sql<CauseRow>`
  SELECT ${counts} FROM items WHERE job_id = :job_id AND failed_at IS NOT NULL ${byCause}`;
const failedOfCause = sql<ItemRow>`
  SELECT * FROM items
  WHERE caller = :caller AND ${isInInbox} AND id > :after
    AND (CAST(:code AS TEXT) IS NULL OR error ->> 'code' = :code)
    AND (CAST(:corpus AS TEXT) IS NULL OR corpus = :corpus)
  ORDER BY id LIMIT :limit`;

/** How many items are in the inbox for each cause, the most frequent first. */
export function listCauses(
  reader: Reader,
  { caller, corpus }: { caller: string; corpus?: string | undefined },
): Promise<CauseRow[]> {
  return reader.run(causes, { caller, corpus: corpus ?? null });
}

/** Which jobs have documents in the inbox. A paused one needs attention anyway. */
const jobIds = `SELECT DISTINCT items.job_id AS id FROM items
  WHERE caller = :caller AND ${isInInbox}
    AND (CAST(:corpus AS TEXT) IS NULL OR corpus = :corpus) AND items.job_id < :before`;
const jobsInInbox = sql<JobRow>`
  SELECT jobs.* FROM (${jobIds} ORDER BY 1 DESC LIMIT :limit) AS failed
  JOIN jobs ON jobs.id = failed.id ORDER BY jobs.id DESC`;
const jobCount = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM (${jobIds} LIMIT :limit) AS failed
  JOIN jobs ON jobs.id = failed.id WHERE jobs.state <> '${jobState.paused}'`;

export interface InboxJobs {
  readonly caller: string;
  readonly corpus?: string | undefined;
  /** Only jobs older than this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Jobs with documents in the inbox, newest first. */
export function listJobsInInbox(reader: Reader, filter: InboxJobs): Promise<JobRow[]> {
  return reader.run(jobsInInbox, valuesOf(filter));
}

/** How many jobs have documents in the inbox, without paused ones. */
export async function countJobsInInbox(reader: Reader, filter: InboxJobs): Promise<number> {
  return (await reader.run(jobCount, valuesOf(filter)))[0]?.count ?? 0;
}

function valuesOf({ caller, corpus, before, limit }: InboxJobs) {
  return { caller, corpus: corpus ?? null, before: before ?? Number.MAX_SAFE_INTEGER, limit };
}

export function listCausesOfJob(reader: Reader, jobId: number): Promise<CauseRow[]> {
  return reader.run(causesOfJob, { job_id: jobId });
}

export interface InboxFilter {
  readonly caller: string;
  readonly code?: string | undefined;
  readonly corpus?: string | undefined;
  readonly after: number;
  readonly limit: number;
}

export function listInbox(reader: Reader, filter: InboxFilter): Promise<ItemRow[]> {
  const { caller, code = null, corpus = null, after, limit } = filter;
  return reader.run(failedOfCause, { caller, code, corpus, after, limit });
}

// By the bytes of the keys, in any collation of the database: an index has this order.
// The plus keeps SQLite from going through all jobs of the caller instead.
const jobsByPrefix = {
  sqlite: sql<JobRow>`
    SELECT * FROM jobs WHERE key >= :first AND key < :beyond AND +caller = :caller LIMIT 2`,
  postgres: sql<JobRow>`
    SELECT * FROM jobs WHERE key ~>=~ :first AND key ~<~ :beyond AND caller = :caller LIMIT 2`,
};

/** Up to two jobs whose key begins so: one is an answer, two are a question. */
export async function findJobs(
  reader: Reader & { readonly dialect: Dialect },
  caller: string,
  prefix: string,
): Promise<JobRow[]> {
  // No key has another character in it, and all that can follow a prefix are below this one.
  if (!/^[0-9a-z-]+$/i.test(prefix)) return [];
  const first = prefix.toLowerCase();
  return reader.run(jobsByPrefix[reader.dialect.name], { caller, first, beyond: `${first}~` });
}

const openJobs = sql<JobRow>`
  SELECT * FROM jobs
  WHERE caller = :caller AND corpus = :corpus AND items_total = :items_total AND force = :force
    AND state IN (${sqlList(workingStates)})
  ORDER BY id DESC LIMIT :limit`;

/** Unfinished jobs that may be the same as one that is about to be submitted. */
export function listOpenJobs(
  reader: Reader,
  filter: { caller: string; corpus: string; items_total: number; force: number; limit: number },
): Promise<JobRow[]> {
  return reader.run(openJobs, filter);
}

const unchanged = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM events WHERE job_id = :job_id AND kind = 'item_unchanged'`;

/** How many documents of a job had not changed, as far back as the history goes. */
export async function countUnchanged(reader: Reader, jobId: number): Promise<number> {
  return (await reader.run(unchanged, { job_id: jobId }))[0]?.count ?? 0;
}

export interface FingerprintRow extends CauseRow {
  /** Where it happened, if the failure said so. */
  readonly domain: string | null;
}

/** Where a model or a sink failed, the domain says nothing about the cause. */
const domain = `CASE WHEN error ->> 'stage' = 'scraping'
  THEN error -> 'context' ->> 'domain' END`;
const ofCaller = `caller = :caller AND ${isInInbox}
    AND (CAST(:code AS TEXT) IS NULL OR error ->> 'code' = :code)
    AND (CAST(:domain AS TEXT) IS NULL OR ${domain} = :domain)
    AND (CAST(:corpus AS TEXT) IS NULL OR corpus = :corpus)`;
const fingerprints = sql<FingerprintRow>`
  SELECT ${domain} AS domain, ${counts} FROM items WHERE ${ofCaller}
  GROUP BY 1, 2 ORDER BY 3 DESC, 2, 1 LIMIT :limit`;
const failedOfDomain = sql<ItemRow>`
  SELECT * FROM items WHERE ${ofCaller} AND id > :after ORDER BY id LIMIT :limit`;

export interface FingerprintFilter extends Omit<InboxFilter, 'after'> {
  readonly domain?: string | undefined;
}

/** How many items are in the inbox for each cause and domain, the most frequent first. */
export function listFingerprints(
  reader: Reader,
  filter: FingerprintFilter,
): Promise<FingerprintRow[]> {
  const { caller, code = null, domain = null, corpus = null, limit } = filter;
  return reader.run(fingerprints, { caller, code, domain, corpus, limit });
}

export function listFailedOf(
  reader: Reader,
  filter: FingerprintFilter & { readonly after: number },
): Promise<ItemRow[]> {
  const { caller, code = null, domain = null, corpus = null, after, limit } = filter;
  return reader.run(failedOfDomain, { caller, code, domain, corpus, after, limit });
}
