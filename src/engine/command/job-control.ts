/**
 * Commands on a whole job. One small transaction moves the job and fences off its items: from its
 * commit on, no claim and no report of an earlier lease counts. The items follow in a sweep
 * (`job-sweeps.ts`), so the response does not wait for them.
 */
import { Failure } from '../../kernel/failure/failure.ts';
import type { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Failpoint, failpoint } from '../../observe/failpoint.ts';
import { lockCorpusSettings } from '../../store/corpus/settings.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import type { Transaction } from '../../store/driver/database.ts';
import { takeFences } from '../../store/item/fence.ts';
import { getJob, getJobById, type JobRow, lockJob } from '../../store/job/jobs.ts';
import { beginSweep, moveJob, setJobBudget } from '../../store/job/moves.ts';
import { checkBudget, checkRaised } from './admission.ts';
import { pauseJob } from './budget.ts';
import type { CancelReceipt } from './input.ts';
import { JobSweeps, type JobSweepsOptions } from './job-sweeps.ts';
import { endReembedding } from './reembed.ts';
import { checkAction, jobEvent } from './rows.ts';

export interface JobControlOptions extends JobSweepsOptions {
  /** This job was stopped: work on its items in this process can stop. */
  readonly revokeJob: (jobId: number) => void;
  /** A sweep failed. Every process with an engine on the store retries it. */
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
}

type Action = (typeof jobMachine.actions)[number];
type Change<T> = (transaction: Transaction, row: JobRow, now: number) => Promise<T>;

/** Jobs whose items are still being moved: commands that need settled items wait for the sweeps. */
export class Unswept {
  readonly jobIds: readonly number[];

  constructor(jobIds: readonly number[]) {
    this.jobIds = jobIds;
  }
}

/** Undefined: all items of these jobs are settled. Checked under their fences. */
export async function unsweptAmong(
  transaction: Transaction,
  jobIds: readonly number[],
): Promise<Unswept | undefined> {
  const unswept: number[] = [];
  for (const id of jobIds) {
    const row = await getJobById(transaction, id);
    if (row && row.sweep !== null) unswept.push(id);
  }
  return unswept.length > 0 ? new Unswept(unswept) : undefined;
}

export async function writeCommand<T>(
  { database, world, ring }: JobSweepsOptions,
  name: 'submit' | 'command',
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const result = await database.write(async (transaction) => {
    const value = await work(transaction);
    failpoint(world, `${name}.before-commit` satisfies Failpoint);
    return value;
  });
  failpoint(world, `${name}.after-commit` satisfies Failpoint);
  ring('work');
  return result;
}

export class JobControl {
  readonly sweeps: JobSweeps;
  readonly #options: JobControlOptions;

  constructor(options: JobControlOptions) {
    this.#options = options;
    this.sweeps = new JobSweeps(options);
  }

  async cancel(caller: string, jobKey: string): Promise<CancelReceipt> {
    const row = await this.change(caller, jobKey, 'cancel', async (transaction, found, now) => {
      const { id, state } = found;
      await endReembedding(transaction, found);
      const moved = await moveJob(transaction, { id, from: state, event: 'cancel', now });
      await beginSweep(transaction, { id, sweep: 'cancel', now });
      const reason = 'cancel requested';
      const event = jobEvent(found, 'job_canceled', moved, { reason, duration_ms: moved?.runMs });
      await appendEvents(transaction, [event], now);
      return found;
    });
    await this.#stopped(row);
    return {
      jobKey,
      itemsCanceled: openItemsOf(row),
      itemsDone: row.items_done,
      itemsFailed: row.items_failed,
      costCents: row.cost_cents,
    };
  }

  async pause(caller: string, jobKey: string): Promise<void> {
    const row = await this.change(caller, jobKey, 'pause', async (transaction, found, now) => {
      await pauseJob(transaction, { row: found, reason: 'pause requested', now });
      return found;
    });
    await this.#stopped(row);
  }

  async resume(caller: string, jobKey: string, budgetCents?: number): Promise<void> {
    const budget = checkBudget(budgetCents);
    const row = await this.change(caller, jobKey, 'resume', async (transaction, found, now) => {
      const { id, state } = found;
      checkRaised(found, budget);
      if (budget !== undefined) await setJobBudget(transaction, id, budget);
      const moved = await moveJob(transaction, { id, from: state, event: 'resume', now });
      await beginSweep(transaction, { id, sweep: 'resume', now });
      const event = jobEvent(found, 'job_resumed', moved, { reason: 'resume requested' });
      await appendEvents(transaction, [event], now);
      return found;
    });
    await this.#sweepSoon(row);
  }

  /**
   * Changes a job under its fence: reports in progress are committed by then. Commands that start
   * items again require that all items are settled.
   */
  async change<T>(caller: string, jobKey: string, action: Action, change: Change<T>): Promise<T> {
    const { database } = this.#options;
    const seen = await getJob(database, jobKey);
    if (seen?.caller !== caller) throw new Failure('job_unknown', `there is no job ${jobKey}`);
    const needsRest = action === 'resume' || action === 'retry';
    return this.whenSwept(() =>
      writeCommand(this.#options, 'command', async (transaction) => {
        await takeFences(transaction, [seen.id]);
        // The corpus before the job, in the lock order of a reservation.
        if (seen.type === 'reembed') await lockCorpusSettings(transaction, seen);
        const row = await lockJob(transaction, jobKey);
        if (!row) throw new Failure('job_unknown', `there is no job ${jobKey}`);
        checkAction(row, action);
        if (needsRest && row.sweep !== null) return new Unswept([row.id]);
        return change(transaction, row, database.now());
      }),
    );
  }

  /** Tries again after the blocking sweeps. */
  async whenSwept<T>(change: () => Promise<T | Unswept>): Promise<T> {
    for (;;) {
      const result = await change();
      if (!(result instanceof Unswept)) return result;
      for (const id of result.jobIds) await this.sweeps.run(id);
    }
  }

  #stopped(row: JobRow): Promise<void> {
    this.#options.revokeJob(row.id);
    return this.#sweepSoon(row);
  }

  /** Small jobs are swept before the response; for large ones the response does not wait. */
  async #sweepSoon(row: JobRow): Promise<void> {
    const sweeping = this.sweeps.run(row.id).catch((error: unknown) => {
      this.#options.onError?.('sweep', error);
    });
    const isSmall = openItemsOf(row) <= limits.sweep.awaitedMax * this.sweeps.itemsMax;
    if (isSmall) await sweeping;
  }
}

function openItemsOf(row: JobRow): number {
  return row.items_total - row.items_done - row.items_failed - row.items_canceled;
}
