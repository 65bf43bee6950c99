/** What commands are asked for, and what they answer. */
import type { Crawl } from '../../store/crawl/crawls.ts';
import type { IdempotentRequest } from '../../store/job/idempotency.ts';
import type { Submitter } from '../../store/job/moves.ts';
import type { NewSource } from '../../store/job/submit.ts';

export interface SubmitInput {
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  /** The sources are where a crawl begins. */
  readonly crawl?: Crawl | undefined;
  readonly priority?: number | undefined;
  readonly force?: boolean | undefined;
  /** What the job may cost: it is paused before it would cost more. */
  readonly budgetCents?: number | undefined;
  /** How long it may run before what is open of it ends as failed. */
  readonly maxWallSeconds?: number | undefined;
  readonly idempotency?: IdempotentRequest | undefined;
  readonly lane?: 'now' | 'cheap' | undefined;
  /** Where the end of the job is told. */
  readonly webhookUrl?: string | undefined;
  /** Who submits it, as far as is known beside the id. */
  readonly submitter?: Submitter | undefined;
}

/** What a cancel did: stopped, kept, and spent for nothing. */
export interface CancelReceipt {
  readonly jobKey: string;
  readonly itemsCanceled: number;
  readonly itemsDone: number;
  readonly itemsFailed: number;
  readonly costCents: number;
}
