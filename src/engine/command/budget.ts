/** Jobs that have used up their budget: paused, and resumed with a higher one. */
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
  /** Set for an automatic pause: the reason as a word and as a sentence. */
  readonly cause?: { readonly pauseReason: string; readonly message: string } | undefined;
  readonly now: number;
}

/** Pauses a job under its fence. The sweep that it starts moves the items. */
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
 * A step found that its job may spend no more. False: the budget was raised meanwhile, and the job
 * is not paused.
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
