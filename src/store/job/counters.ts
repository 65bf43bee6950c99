/** What is counted of a job, under the names by which outside tools know it. */
import type { JobRow } from './jobs.ts';

export interface JobCounters {
  /** Sources that are known by now: a crawl finds more as it goes. */
  readonly urls_total: number;
  /** Those of them that were ever put into the queue: all, since a page is enqueued when found. */
  readonly urls_enqueued: number;
  /** Those that were worked on to the end, well or not: a canceled one was not. */
  readonly urls_processed: number;
  /** Documents and chunks that became searchable by this job. */
  readonly documents_emitted: number;
  readonly chunks_indexed: number;
  /** Tokens of the chunks, as our tokenizer counts them. */
  readonly tokens_estimated: number;
  /** Time it was worked on, with waits for a retry, without pauses and the time after its end. */
  readonly duration_seconds: number;
}

export function countersOf(row: JobRow, now: number): JobCounters {
  return {
    urls_total: row.items_total,
    urls_enqueued: row.items_total,
    urls_processed: row.items_done + row.items_failed,
    documents_emitted: row.documents_emitted,
    chunks_indexed: row.chunks_indexed,
    tokens_estimated: row.tokens_estimated,
    duration_seconds: workedMs(row, now) / 1000,
  };
}

/** For how long a job has been worked on until now: its clock stands unless it is running. */
export function workedMs(
  { worked_ms, working_since }: Pick<JobRow, 'worked_ms' | 'working_since'>,
  now: number,
): number {
  return worked_ms + (working_since === null ? 0 : Math.max(now - working_since, 0));
}
