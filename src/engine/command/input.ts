/** Inputs and results of commands. */
import type { Crawl } from '../../store/crawl/crawls.ts';
import type { IdempotentRequest } from '../../store/job/idempotency.ts';
import type { Submitter } from '../../store/job/moves.ts';
import type { NewSource } from '../../store/job/submit.ts';

export interface SubmitInput {
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  /** The sources are the start of a crawl. */
  readonly crawl?: Crawl | undefined;
  readonly priority?: number | undefined;
  readonly force?: boolean | undefined;
  /** The job is paused before it would cost more. */
  readonly budgetCents?: number | undefined;
  /** How long it may run before its open items fail. */
  readonly maxWallSeconds?: number | undefined;
  readonly idempotency?: IdempotentRequest | undefined;
  readonly lane?: 'now' | 'cheap' | undefined;
  /** Receives the webhook when the job ends. */
  readonly webhookUrl?: string | undefined;
  /** Identity of the submitter beyond the caller id. */
  readonly submitter?: Submitter | undefined;
}

/** What a cancel did: stopped, kept, and spent in vain. */
export interface CancelReceipt {
  readonly jobKey: string;
  readonly itemsCanceled: number;
  readonly itemsDone: number;
  readonly itemsFailed: number;
  readonly costCents: number;
}
