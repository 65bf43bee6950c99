/** Jobs that have come to the end of their money: paused, and resumed with more of it. */
import { type Failure, pauseReasons } from '../kernel/failure.ts';
import { job as jobMachine } from '../kernel/job.ts';
import { allowedActions } from '../kernel/machine.ts';
import { gatesOf } from '../store/claims.ts';
import type { Database, Transaction } from '../store/database.ts';
import { appendEvents } from '../store/events.ts';
import { admitAtGates } from '../store/gates.ts';
import { lockItemsOfJob, pauseOfJob } from '../store/intervention.ts';
import { forgetWaiting, moveJob } from '../store/job-transition.ts';
import { getJobById, type JobRow, lockJob } from '../store/jobs.ts';
import { jobEvent } from './command-rows.ts';

export interface Pause {
  readonly row: JobRow;
  readonly reason: string;
  /** Where nobody asked for it: the reason in one word, and in a sentence. */
  readonly cause?: { readonly pauseReason: string; readonly message: string } | undefined;
  readonly now: number;
}

/** Stops a job where it is. Returns the items that were taken from whoever held them. */
export async function pauseJob(
  transaction: Transaction,
  { row, reason, cause, now }: Pause,
): Promise<number[]> {
  const pauseReason = cause?.pauseReason;
  await moveJob(transaction, { id: row.id, from: row.state, event: 'pause', pauseReason, now });
  const items = await pauseOfJob(transaction, row.id);
  await forgetWaiting(transaction, row.id, now);
  await admitAtGates(transaction, gatesOf(items), now);
  const message = cause && { message: cause.message };
  const event = jobEvent(row, 'job_paused', { to: 'paused', reason, ...message });
  await appendEvents(transaction, [event], now);
  return items.map(({ id }) => id);
}

/**
 * A step found that its job may spend no more. Returns the items that were taken away, none where
 * somebody was quicker; undefined where the job has been given more money meanwhile.
 */
export function pauseForMoney(
  database: Database,
  jobId: number,
  failure: Failure,
): Promise<number[] | undefined> {
  const { message, context } = failure;
  const reason = pauseReasons[failure.code] ?? failure.code;
  const pauseReason = context.of === 'corpus' ? `corpus_${reason}` : reason;
  return database.write(async (transaction) => {
    const seen = await getJobById(transaction, jobId);
    if (!seen || !isPausable(seen)) return [];
    await lockItemsOfJob(transaction, jobId);
    const row = await lockJob(transaction, seen.key);
    if (!row || !isPausable(row)) return [];
    const isRaised = context.of === 'job' && row.budget_cents !== context.budget_cents;
    if (isRaised) return undefined;
    const cause = { pauseReason, message };
    return pauseJob(transaction, { row, reason: pauseReason, cause, now: database.now() });
  });
}

function isPausable({ state }: JobRow): boolean {
  return allowedActions(jobMachine, state).includes('pause');
}
