/** The interface that commands use. The local store and a remote service both implement it. */

import type { BodyOf } from '../contract/contract.ts';
import type { AnswerEvent } from '../contract/schema/answer.ts';
import type { Event, Job, JobDetail } from '../contract/schema/schema.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Session } from '../library/internal.ts';

export type JobCounts = Pick<
  Job,
  | ('state' | 'pause_reason' | 'items_total' | 'items_done')
  | ('items_failed' | 'items_canceled' | 'items_waiting')
>;

export interface JobClient {
  readonly id: string;
  readonly corpus: string;
  readonly isResumed: boolean;
  detail(): Promise<JobDetail>;
  /** The part of the detail that is cheap enough to poll. */
  counts(): Promise<JobCounts>;
  /** The events after a number, until the job ends or the signal aborts. */
  events(from: {
    readonly after?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<Event>;
}

export interface PawlClient extends Pick<Session, 'ask' | 'work' | 'isWorkedOn' | 'newestEvent'> {
  /** An answer of `POST /ask` as it is written. */
  answer(body: BodyOf<'POST /ask'>, signal: AbortSignal): AsyncIterable<AnswerEvent>;
  /** A job by its id, or by a unique prefix of it. */
  job(id: string): Promise<JobClient>;
  submit(...args: Parameters<Session['submit']>): Promise<JobClient>;
}

type ReadPage<Entry> = (query: { limit: number; cursor?: string | undefined }) => Promise<{
  readonly items: readonly Entry[];
  readonly next_cursor: string | null;
}>;

/** The entries of a list, page by page. */
export async function* entriesOf<Entry>(read: ReadPage<Entry>): AsyncGenerator<Entry> {
  const limit = limits.request.pageItemsMax;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read({ limit, cursor });
    yield* page.items;
    cursor = page.next_cursor;
  }
}

export async function allOf<Entry>(read: ReadPage<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of entriesOf(read)) entries.push(entry);
  return entries;
}
