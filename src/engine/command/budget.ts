/** Jobs that have come to the end of their money: paused, and resumed with more of it. */
import { type Failure, pauseReasons } from '../../kernel/failure/failure.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { allowedActions } from '../../kernel/lifecycle/machine.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { takeFences } from '../../store/item/fence.ts';
import { type JobRow, lockJobById } from '../../store/job/jobs.ts';
import { beginSweep, moveJob } from '../../store/job/moves.ts';
import { jobEvent } from './rows.ts';

export interface Pause {
  readonly row: JobRow;
  readonly reason: string;
  /** Where nobody asked for it: the reason in one word, and in a sentence. */
  readonly cause?: { readonly pauseReason: string; readonly message: string } | undefined;
  readonly now: number;
}

/** Stops a job where it is, under its fence. The items are moved by the sweep that it begins. */
export async function pauseJob(
  transaction: Transaction,
  { row, reason, cause, now }: Pause,
): Promise<void> {
  const pauseReason = cause?.pauseReason;
  const { id, state: from } = row;
  const moved = await moveJob(transaction, { id, from, event: 'pause', pauseReason, now });
  await beginSweep(transaction, { id: row.id, sweep: 'pause', now });
  const message = cause && { message: cause.message };
  const event = jobEvent(row, 'job_paused', moved, { reason, ...message });
  await appendEvents(transaction, [event], now);
}

/**
 * A step found that its job may spend no more. False: the job has been given more money meanwhile,
 * and is not paused.
 */
export function pauseForMoney(
  database: Database,
  jobId: number,
  failure: Failure,
): Promise<boolean> {
  const { message, context } = failure;
  const reason = pauseReasons[failure.code] ?? failure.code;
  const pauseReason = context.of === 'corpus' ? `corpus_${reason}` : reason;
  return database.write(async (transaction) => {
    await takeFences(transaction, [jobId]);
    const row = await lockJobById(transaction, jobId);
    if (!row || !isPausable(row)) return true;
    const isRaised = context.of === 'job' && row.budget_cents !== context.budget_cents;
    if (isRaised) return false;
    const cause = { pauseReason, message };
    await pauseJob(transaction, { row, reason: pauseReason, cause, now: database.now() });
    return true;
  });
}

function isPausable({ state }: JobRow): boolean {
  return allowedActions(jobMachine, state).includes('pause');
}
