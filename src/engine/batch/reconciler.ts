/**
 * Reconciles the stored state of tasks in progress with their providers. It owns every move after
 * `in_progress`. It takes a task, polls its jobs, decides for each by one table
 * (`kernel/batch-decision.ts`), writes the output to disk, and then moves the state. The move is a
 * compare-and-set: of two reconcilers one makes it, and the other changes nothing.
 */
import { type BatchAction, batchDecisions } from '../../kernel/batch-decision.ts';
import { Failure, failures, toFailure } from '../../kernel/failure/failure.ts';
import { batchJob, pollErrorEvent } from '../../kernel/lifecycle/batch-job.ts';
import { type BatchTaskEvent, batchTaskEventFor } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  isGivenUp,
  type JsonObject,
  type ProviderJob,
  type ProviderState,
  stateOfStatus,
  statusAfter,
} from '../../kernel/provider-state.ts';
import type { NewEvent } from '../../observe/event.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { PollAnswer } from '../../provider/batch/batch-provider.ts';
import { takeDueTasks } from '../../store/batch/taking.ts';
import {
  type BatchTaskRow,
  moveTask,
  noteSubmission,
  providerStateOf,
  type Results,
} from '../../store/batch/tasks.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { collectJob, failed, nothing, sumOf, writeOutput } from './collect.ts';
import { giveUp } from './expiry.ts';
import { TaskPool } from './lanes.ts';
import { askedOf, type PlannedJob, planJobs, refOf } from './plan.ts';
import { type Collected, isPartly } from './results.ts';
import {
  type BatchOptions,
  errorOf,
  growingWaitMs,
  type Notes,
  nextPollMs,
  taskEvent,
} from './submit.ts';
import type { TaskLock } from './task-lock.ts';

export function pollPool(options: BatchOptions, signal: AbortSignal): TaskPool {
  return new TaskPool(options, signal, {
    size: limits.batch.concurrencyMax,
    what: 'reconciling',
    take: (transaction, taking) => takeDueTasks(transaction, 'poll', taking),
    work: (row, lock) => reconcileTask(row, options, lock),
  });
}

/** With bounded concurrency. */
async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].reverse();
  const lane = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: limits.batch.concurrencyMax }, lane));
}

async function reconcileTask(
  row: BatchTaskRow,
  options: BatchOptions,
  lock: TaskLock,
): Promise<void> {
  let state: ProviderState;
  let planned: PlannedJob[];
  try {
    state = stateOf(row);
    planned = planJobs(row, options.providers, options.blobs);
  } catch (error) {
    return giveUp(row, options, toFailure(error));
  }
  await new Reconciliation(row, options, lock).run(state, planned);
}

function stateOf(row: BatchTaskRow): ProviderState {
  const state = providerStateOf(row);
  if (state) return state;
  throw new Failure('provider_state_invalid', 'the task has no provider state');
}

interface Judged {
  readonly entry: ProviderJob;
  readonly collected?: Collected;
  /** What the job adds to the counts of its task. */
  readonly results?: Results;
  /** Why it waits longer than usual, and the minimum wait. */
  readonly wait?: string;
  readonly waitMs?: number | undefined;
  readonly isError?: boolean;
}

class Reconciliation {
  readonly #row: BatchTaskRow;
  readonly #options: BatchOptions;
  readonly #lock: TaskLock;
  readonly #noted: Notes;
  readonly #odd: NewEvent[] = [];

  constructor(row: BatchTaskRow, options: BatchOptions, lock: TaskLock) {
    this.#row = row;
    this.#options = options;
    this.#lock = lock;
    this.#noted = JSON.parse(row.submission);
  }

  async run(state: ProviderState, planned: readonly PlannedJob[]): Promise<void> {
    const judged: Judged[] = state.jobs.map((entry) => ({ entry }));
    await atOnce([...state.jobs.entries()], async ([index, entry]) => {
      const job = planned[index];
      if (!job || batchJob.final.includes(stateOfStatus[entry.status])) return;
      judged[index] = await this.#judge(job, index, entry);
    });
    if (this.#lock.signal.aborted) return;
    const next = { ...state, jobs: judged.map(({ entry }) => entry) };
    const event = batchTaskEventFor(
      next.jobs.map((entry) => ({ state: stateOfStatus[entry.status], partial: isPartly(entry) })),
    );
    if (event === 'poll') await this.#goOn(state, next, judged);
    else await this.#end(event, { state: next, judged, planned });
  }

  /** Polls the provider, decides, and returns the new entry of the job. */
  async #judge(job: PlannedJob, index: number, entry: ProviderJob): Promise<Judged> {
    const { world } = this.#options;
    failpoint(world, 'batch.before-poll');
    const answer = await job.provider.poll(refOf(job, entry), this.#lock.signal);
    failpoint(world, 'batch.after-poll');
    if (answer.said === 'unknown') this.#tell(`unknown provider status: ${answer.detail}`);
    const action = batchDecisions[stateOfStatus[entry.status]][answer.said];
    if (action === 'collect') return this.#collect(job, entry, answer);
    if (action === 'resubmit') return this.#resubmit(job, index, entry, answer);
    return this.#settle(action, { job, entry, answer });
  }

  #settle(
    action: Exclude<BatchAction, 'collect' | 'resubmit'>,
    { job, entry, answer }: { job: PlannedJob; entry: ProviderJob; answer: PollAnswer },
  ): Judged {
    switch (action) {
      case 'run':
        return { entry: { ...entry, status: statusAfter(entry, 'run'), ...withoutErrors(entry) } };
      case 'fail':
        return {
          entry: failed(entry, answer.detail ?? 'the provider reports a failure'),
          results: { ...nothing, failed: askedOf(job, this.#row) },
        };
      case 'wait':
        return { entry, ...this.#waiting(answer.detail ?? answer.said, answer.retryAfterMs) };
      case 'count_error':
        return this.#countError(entry, answer.detail ?? answer.said);
      case 'ignore':
        return { entry };
    }
  }

  #waiting(reason: string, retryAfterMs: number | undefined, waits = this.#row.waits) {
    const waitMs = retryAfterMs ?? growingWaitMs(this.#options.world, waits);
    return { wait: reason, waitMs };
  }

  #countError(entry: ProviderJob, detail: string): Judged {
    const errors = entry.transient_failures ?? 0;
    const event = pollErrorEvent(errors);
    const counted = { ...entry, transient_failures: errors + 1 };
    if (event === 'poll_errors_exhausted') {
      return { entry: failed(counted, detail, event), isError: true };
    }
    return { entry: { ...counted, status: statusAfter(entry, event) }, isError: true };
  }

  async #collect(planned: PlannedJob, entry: ProviderJob, answer: PollAnswer): Promise<Judged> {
    const { blobs } = this.#options;
    try {
      const job = await collectJob({ planned, entry, answer }, { row: this.#row, blobs });
      for (const sentence of job.collected.oddities) this.#tell(sentence);
      return { ...job, results: job.collected };
    } catch (error) {
      const { code, message, retryAfterMs } = toFailure(error);
      // A store that cannot be written is not the provider's fault: the task is due again.
      if (code === 'storage_full' || code === 'internal_error') throw error;
      if (failures[code].kind === 'rate_limited') {
        return { entry, ...this.#waiting(message, retryAfterMs) };
      }
      return this.#countError(entry, message);
    }
  }

  /**
   * The provider had no capacity and has not started the job. It is submitted again after a wait.
   */
  async #resubmit(
    planned: PlannedJob,
    index: number,
    entry: ProviderJob,
    answer: PollAnswer,
  ): Promise<Judged> {
    const noted = this.#noted[index] ?? {};
    if (noted.refusedId !== entry.external_job_id) {
      const refusals = noted.refusals ?? 0;
      this.#noted[index] = { ...noted, refusedId: entry.external_job_id, refusals: refusals + 1 };
      const reason = answer.detail ?? 'the provider has no capacity for it';
      return { entry, ...this.#waiting(reason, answer.retryAfterMs, refusals) };
    }
    if (!this.#lock.isLongEnough) return { entry };
    try {
      const id = await this.#beginAgain(planned, index);
      this.#noted[index] = { ...noted, id };
      const status = statusAfter(entry, 'resubmit');
      return { entry: { ...entry, external_job_id: id, status } };
    } catch (error) {
      const { message, retryAfterMs } = toFailure(error);
      return { entry, ...this.#waiting(message, retryAfterMs) };
    }
  }

  async #beginAgain({ provider, job }: PlannedJob, index: number): Promise<string> {
    const { database } = this.#options;
    const notes = { ...this.#noted[index]?.notes };
    const context = {
      signal: this.#lock.signal,
      intendedAt: this.#row.created_at,
      notes,
      note: async (name: string, value: string): Promise<void> => {
        notes[name] = value;
        this.#noted[index] = { ...this.#noted[index], notes };
        const change = { submission: this.#submission(), now: database.now() };
        await database.write((transaction) => noteSubmission(transaction, this.#row, change));
      },
    };
    return (await provider.find(job, context)) ?? provider.submit(job, context);
  }

  #submission(): JsonObject {
    return { ...this.#noted } as unknown as JsonObject;
  }

  /** Some jobs are still running. */
  async #goOn(
    before: ProviderState,
    state: ProviderState,
    judged: readonly Judged[],
  ): Promise<void> {
    const { database, world, pollIntervalMs } = this.#options;
    const asked = Math.max(...judged.map(({ waitMs = 0 }) => waitMs));
    const wait = judged.find((each) => each.wait !== undefined)?.wait;
    const statuses = (of: ProviderState): string => of.jobs.map(({ status }) => status).join();
    const isNews = statuses(before) !== statuses(state);
    const detail = { jobs: countOf(state.jobs) };
    if (wait !== undefined && wait !== this.#row.wait_reason) {
      this.#odd.push(taskEvent('batch_task_waiting', this.#row, { reason: wait }));
    }
    const now = database.now();
    await this.#commit({
      event: 'poll',
      providerState: state,
      submission: this.#submission(),
      nextAt: now + Math.max(nextPollMs(world, pollIntervalMs), asked),
      pollErrors: judged.filter(({ isError }) => isError).length,
      results: sumOf(judged.map(({ results = nothing }) => results)),
      wait,
      told: isNews ? taskEvent('batch_task_polled', this.#row, detail) : undefined,
      now,
    });
  }

  /** All jobs have ended: first the output is on disk, then the state moves. */
  async #end(
    event: BatchTaskEvent,
    ended: { state: ProviderState; judged: readonly Judged[]; planned: readonly PlannedJob[] },
  ): Promise<void> {
    const { database, blobs, world } = this.#options;
    const { state, judged, planned } = ended;
    const isFailed = event === 'fail';
    failpoint(world, 'batch.before-output');
    const outputKey = isFailed
      ? undefined
      : await writeOutput(this.#row, { jobs: state.jobs, planned, blobs });
    failpoint(world, 'batch.after-output');
    const results = sumOf(judged.map((each) => each.results ?? nothing));
    const { results_ok, results_failed, tokens_in, tokens_out } = this.#row;
    const earlier = { ok: results_ok, failed: results_failed };
    const all = sumOf([
      results,
      { ...earlier, tokensIn: tokens_in, tokensOut: tokens_out },
    ]) as unknown as JsonObject;
    const [firstError] = state.jobs.flatMap(({ error }) => error ?? []);
    const reason = firstError ?? 'all of its jobs failed';
    const [collected] = judged.flatMap((each) => each.collected ?? []);
    const now = database.now();
    const isCancelDue = state.jobs.some(isGivenUp);
    await this.#commit(
      {
        event,
        providerState: state,
        outputKey,
        ...(isFailed && { error: errorOf(new Failure('provider_rejected', reason)) }),
        pollErrors: judged.filter(({ isError }) => isError).length,
        results,
        isCancelDue,
        nextAt: now,
        told: taskEvent(endEvents[event], this.#row, { ...all, ...(isFailed && { reason }) }),
        now,
      },
      // If a job was abandoned, its waiters wait until it has ended at the provider.
      isCancelDue ? undefined : { collected, reason },
    );
  }

  async #commit(
    change: Parameters<typeof moveTask>[2],
    ended?: { readonly collected: Collected | undefined; readonly reason: string },
  ): Promise<void> {
    const { database, world, onEnd } = this.#options;
    const row = this.#row;
    await this.#lock.release();
    await database.write(async (transaction) => {
      if (!(await moveTask(transaction, row, change))) return;
      await appendEvents(transaction, this.#odd, change.now);
      if (ended) {
        const { places = new Map(), blobKey } = ended.collected ?? {};
        const { reason } = ended;
        await onEnd?.(transaction, { row, results: places, blobKey, reason, now: change.now });
      }
      failpoint(world, 'batch.before-commit');
    });
    failpoint(world, 'batch.after-commit');
  }

  #tell(sentence: string): void {
    this.#odd.push(taskEvent('batch_reply_odd', this.#row, { reason: sentence }));
  }
}

const endEvents: Readonly<Record<BatchTaskEvent, NewEvent['kind']>> = {
  submit: 'batch_task_submitted',
  poll: 'batch_task_polled',
  complete: 'batch_task_completed',
  complete_partly: 'batch_task_partly_completed',
  fail: 'batch_task_failed',
  cancel: 'batch_task_canceled',
};

/** Three consecutive errors fail a job: a good response resets the count. */
function withoutErrors({ transient_failures: errors }: ProviderJob): Partial<ProviderJob> {
  return errors === undefined ? {} : { transient_failures: 0 };
}

function countOf(jobs: readonly ProviderJob[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of jobs) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
