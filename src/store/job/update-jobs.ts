/** What the moves of items mean for their jobs: their counts, and the moves that follow. */

import { place } from '../../kernel/lifecycle/item-wait.ts';
import {
  isPartial,
  type JobEvent,
  jobEventFor,
  job as jobMachine,
  jobState,
} from '../../kernel/lifecycle/job.ts';
import type { NewEvent } from '../../observe/event.ts';
import { goOnRechunking } from '../corpus/rechunking.ts';
import { goOnReembedding, turnToNextModel } from '../corpus/reembedding.ts';
import type { Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { atPlaces } from '../item/at-places.ts';
import { addSpending } from '../money/spending.ts';
import { countJobs, type JobCountsRow, type JobDelta, type MovedJob, moveJob } from './moves.ts';

/** Collects what changed for each job, so that a commit touches each job once. */
export class JobDeltas {
  readonly #byId = new Map<number, JobDelta>();

  of(id: number): JobDelta {
    let delta = this.#byId.get(id);
    if (!delta) {
      delta = {
        id,
        done: 0,
        failed: 0,
        canceled: 0,
        waiting: 0,
        retried: 0,
        documents: 0,
        chunks: 0,
        tokens: 0,
        tokensIn: 0,
        tokensOut: 0,
        costCents: 0,
      };
      this.#byId.set(id, delta);
    }
    return delta;
  }

  list(): JobDelta[] {
    // In the order of their ids, so that two commits never wait for each other in a circle.
    return [...this.#byId.values()].sort((a, b) => a.id - b.id);
  }
}

const eventKinds = {
  wait: 'job_waiting',
  complete: 'job_succeeded',
  error: 'job_failed',
  cancel: 'job_canceled',
} as const satisfies Record<JobEvent, NewEvent['kind']>;

/** Counts, then moves each job as its counts require. Returns the events of the jobs. */
export async function settleJobs(
  transaction: Transaction,
  deltas: JobDeltas,
  now: number,
): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  const changed = deltas.list();
  if (changed.length === 0) return events;
  const paid = changed.filter(isPaid).map(({ id, ...delta }) => ({ ...delta, jobId: id }));
  if (paid.length > 0) await addSpending(transaction, paid, now);
  for (const row of await countJobs(transaction, changed, now)) {
    const counts = countsOf(row);
    const event = jobEventFor(row.state, counts);
    if (event === undefined) continue;
    if (mayGoOn(row, event) && (await goOn(transaction, row, now))) continue;
    const error = await errorFor(transaction, { event, jobId: row.id, deltas });
    const moved = await moveJob(transaction, { id: row.id, from: row.state, event, error, now });
    if (moved === undefined) continue;
    const detail = detailOf(row, moved, error);
    events.push({ kind: eventKinds[event], jobId: row.id, attempt: moved.attempt, detail });
    if (row.type === 'reembed' && jobMachine.final.includes(moved.to)) {
      const turned = await turnToNextModel(transaction, row);
      if (turned) events.push({ ...turned, jobId: row.id });
    }
  }
  return events;
}

/**
 * A corpus is embedded or split again some documents at a time, even if some fail. If all of them
 * failed, so would the others: then a person decides, as for a paused job.
 */
function mayGoOn({ state }: JobCountsRow, event: JobEvent): boolean {
  return state !== jobState.paused && (event === 'complete' || event === 'cancel');
}

async function goOn(transaction: Transaction, row: JobCountsRow, now: number): Promise<boolean> {
  if (row.type === 'reembed') return goOnReembedding(transaction, row, now);
  return row.type === 'rechunk' && goOnRechunking(transaction, row, now);
}

function isPaid({ tokensIn, tokensOut, costCents }: JobDelta): boolean {
  return tokensIn + tokensOut + costCents > 0;
}

export function countsOf(row: JobCountsRow) {
  return {
    total: row.items_total,
    done: row.items_done,
    failed: row.items_failed,
    canceled: row.items_canceled,
    waiting: row.items_waiting,
  };
}

/** What the history says of the move: its reason is the code of the failure that brought it. */
function detailOf(
  row: JobCountsRow,
  { from, to, runMs }: MovedJob,
  error: JobError | undefined,
): Record<string, unknown> {
  const counts = countsOf(row);
  const { done, failed, canceled, total } = counts;
  const tally = `${done} done, ${failed} failed, ${canceled} canceled of ${total}`;
  return {
    from,
    to,
    reason: error?.code ?? tally,
    ...(error && { tally, error_code: error.errorCode }),
    ...(error?.stage !== undefined && { stage: error.stage }),
    ...(jobMachine.final.includes(to) && { duration_ms: runMs }),
    ...(isPartial(counts) && { partial: true }),
  };
}

interface JobError {
  readonly stage?: string;
  readonly code: string;
  readonly errorCode: string;
  readonly json: string;
}

const firstErrorOfJob = sql<{ error: string }>`
  SELECT error FROM items WHERE job_id = :job_id AND failed_at IS NOT NULL ORDER BY id LIMIT 1`;
const waitingErrorOfJob = sql<{ error: string }>`
  SELECT error FROM items WHERE job_id = :job_id AND ${atPlaces([place.time])} AND error IS NOT NULL
  ORDER BY id DESC LIMIT 1`;

/** Why the job has failed, or waits: by the first item that failed, or the last that waits. */
async function errorFor(
  transaction: Transaction,
  { event, jobId, deltas }: { event: JobEvent; jobId: number; deltas: JobDeltas },
): Promise<JobError | undefined> {
  if (event !== 'error' && event !== 'wait') return undefined;
  const statement = event === 'error' ? firstErrorOfJob : waitingErrorOfJob;
  const known = event === 'wait' ? deltas.of(jobId).lastError : undefined;
  const json = known ?? (await transaction.run(statement, { job_id: jobId }))[0]?.error;
  if (json === undefined) return undefined;
  const { stage, code, error_code: errorCode } = JSON.parse(json);
  return { ...(event === 'error' && { stage }), code, errorCode, json };
}
