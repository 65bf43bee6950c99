/** What is counted of a job, under the names by which outside tools know it. */
import type { JobRow } from './jobs.ts';

export interface JobCounters {
  /** Sources that are known by now: a crawl finds more as it goes. */
  readonly urls_total: number;
  /** Those of them that still wait or are being worked on. */
  readonly urls_enqueued: number;
  /** Those that have ended, well or not. */
  readonly urls_processed: number;
  readonly documents_emitted: number;
  readonly chunks_indexed: number;
  /** Tokens of the chunks, as our tokenizer counts them. */
  readonly tokens_estimated: number;
  /** From the first step until now, or until the end. */
  readonly duration_seconds: number;
}

export function countersOf(row: JobRow, now: number): JobCounters {
  const processed = row.items_done + row.items_failed + row.items_canceled;
  const durationMs = row.started_at === null ? 0 : (row.ended_at ?? now) - row.started_at;
  return {
    urls_total: row.items_total,
    urls_enqueued: row.items_total - processed,
    urls_processed: processed,
    documents_emitted: row.documents_emitted,
    chunks_indexed: row.chunks_indexed,
    tokens_estimated: row.tokens_estimated,
    duration_seconds: Math.max(durationMs, 0) / 1000,
  };
}
