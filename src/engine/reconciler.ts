/**
 * Brings what we believe of tasks in progress together with what their providers say. It owns every
 * move after `in_progress`. A task is taken, its jobs are asked about, one table decides for each
 * (`kernel/batch-decision.ts`), the output is on disk, and then the state moves. The move is a
 * compare-and-set: of two reconcilers one makes it, and the other changes nothing.
 */
import { putParts } from '../blob/blob.ts';
import { type BatchAction, batchDecisions } from '../kernel/batch-decision.ts';
import { batchJob, pollErrorEvent } from '../kernel/batch-job.ts';
import { type BatchTaskEvent, batchTaskEventFor } from '../kernel/batch-task.ts';
import { Failure, toFailure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import { transition } from '../kernel/machine.ts';
import { type ProviderJob, type ProviderState, stateOfStatus } from '../kernel/provider-state.ts';
import type { NewEvent } from '../observe/event.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { PollAnswer } from '../provider/batch/batch-provider.ts';
import { type BatchTaskRow, moveTask, providerStateOf } from '../store/batch-tasks.ts';
import { appendEvents } from '../store/events.ts';
import { cancelDue } from './batch-cancel.ts';
import { inputOf, type PlannedJob, planJobs, readRequests, refOf } from './batch-plan.ts';
import {
  blobScheme,
  type Collected,
  collectResults,
  isPartly,
  mergedOutput,
  resultEntry,
} from './batch-results.ts';
import {
  type BatchOptions,
  type EndedTask,
  errorOf,
  nextPollMs,
  takePage,
  taskEvent,
} from './batch-submit.ts';

/** Asks about every task that is due. Returns how many there were. */
export async function reconcile(options: BatchOptions, signal: AbortSignal): Promise<number> {
  let seen = 0;
  await cancelDue(options, signal);
  while (!signal.aborted) {
    const rows = await takePage(options, 'in_progress');
    seen += rows.length;
    await atOnce(rows, (row) =>
      reconcileTask(row, options, signal).catch((error: unknown) => {
        // It is due again when its hold ends.
        options.onError(`reconciling batch task ${row.key}`, error);
      }),
    );
    if (rows.length < limits.batch.pageMax) break;
  }
  return seen;
}

/** A bounded number at a time. */
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
  signal: AbortSignal,
): Promise<void> {
  const guarded = guard(row, options);
  if (guarded instanceof Failure) return new Reconciliation(row, options).fail(guarded);
  await new Reconciliation(row, options).run(guarded, signal);
}

/** What a task must be before anybody is asked about it. */
function guard(row: BatchTaskRow, { database }: BatchOptions): ProviderState | Failure {
  const hours = limits.batch.taskAgeMsMax / 3_600_000;
  if (row.provider_state === null) {
    return new Failure('provider_state_invalid', 'the task has no provider state');
  }
  if (database.now() - row.created_at > limits.batch.taskAgeMsMax) {
    return new Failure('batch_expired', `the task has been in progress for more than ${hours} h`);
  }
  try {
    return providerStateOf(row) as ProviderState;
  } catch (error) {
    return toFailure(error);
  }
}

interface Judged {
  readonly entry: ProviderJob;
  readonly collected?: Collected;
  readonly waitMs?: number;
  readonly isError?: boolean;
}

class Reconciliation {
  readonly #row: BatchTaskRow;
  readonly #options: BatchOptions;
  readonly #odd: NewEvent[] = [];

  constructor(row: BatchTaskRow, options: BatchOptions) {
    this.#row = row;
    this.#options = options;
  }

  async run(state: ProviderState, signal: AbortSignal): Promise<void> {
    const { providers, blobs } = this.#options;
    let planned: PlannedJob[];
    try {
      planned = planJobs(this.#row, providers, blobs);
    } catch (error) {
      return this.fail(toFailure(error));
    }
    const judged: Judged[] = state.jobs.map((entry) => ({ entry }));
    await atOnce([...state.jobs.entries()], async ([index, entry]) => {
      const job = planned[index];
      if (!job || batchJob.final.includes(stateOfStatus[entry.status])) return;
      judged[index] = await this.#judge(job, entry, signal);
    });
    if (signal.aborted) return;
    const next = { ...state, jobs: judged.map(({ entry }) => entry) };
    const event = batchTaskEventFor(
      next.jobs.map((entry) => ({ state: stateOfStatus[entry.status], partial: isPartly(entry) })),
    );
    if (event === 'poll') await this.#goOn(state, next, judged);
    else await this.#end(event, { state: next, judged, planned });
  }

  /** Asks the provider, decides, and returns what the job is from now on. */
  async #judge(job: PlannedJob, entry: ProviderJob, signal: AbortSignal): Promise<Judged> {
    const { world } = this.#options;
    failpoint(world, 'batch.before-poll');
    const answer = await job.provider.poll(refOf(job, entry), signal);
    failpoint(world, 'batch.after-poll');
    if (answer.said === 'unknown') this.#tell(`a state without a name here: ${answer.detail}`);
    const action = batchDecisions[stateOfStatus[entry.status]][answer.said];
    if (action !== 'collect') return this.#settle(action, entry, answer);
    return this.#collect(job, entry, answer);
  }

  #settle(action: Exclude<BatchAction, 'collect'>, entry: ProviderJob, answer: PollAnswer): Judged {
    switch (action) {
      case 'run':
        return { entry: { ...entry, status: 'RUNNING' } };
      case 'fail':
        return { entry: failed(entry, answer.detail ?? 'the provider says that it failed') };
      case 'wait':
        return { entry, waitMs: answer.retryAfterMs ?? limits.wait.retryAfterMsDefault };
      case 'count_error':
        return this.#countError(entry, answer.detail ?? answer.said);
      case 'ignore':
        return { entry };
    }
  }

  #countError(entry: ProviderJob, detail: string): Judged {
    const errors = entry.transient_failures ?? 0;
    const state = stateOfStatus[entry.status];
    const isOver = transition(batchJob, state, pollErrorEvent(errors)) === 'failed';
    const counted = { ...entry, transient_failures: errors + 1 };
    return { entry: isOver ? failed(counted, detail) : counted, isError: true };
  }

  async #collect(job: PlannedJob, entry: ProviderJob, answer: PollAnswer): Promise<Judged> {
    const { blobs } = this.#options;
    const results = answer.results?.() ?? nothing();
    let collected: Collected;
    try {
      collected = await collectResults(results, { expected: await this.#expected(job), blobs });
    } catch (error) {
      const failure = toFailure(error);
      // A store that cannot be written is no fault of the provider: the task comes again.
      if (failure.code === 'storage_full' || failure.code === 'internal_error') throw error;
      return this.#countError(entry, failure.message);
    }
    for (const sentence of collected.oddities) this.#tell(sentence);
    if (collected.ok === 0) {
      const why = collected.firstError ?? answer.detail ?? 'nothing was asked for';
      return { entry: failed(entry, `${answer.said} without a result: ${why}`), collected };
    }
    return { entry: completed(entry, collected, this.#row.provider === null), collected };
  }

  async #expected({ job }: PlannedJob): Promise<Set<string>> {
    if (job.sources.length > 0) return new Set(job.sources);
    const ids = new Set<string>();
    const requests = readRequests(this.#options.blobs, inputOf(this.#row));
    for await (const { custom_id: id } of requests) ids.add(id);
    return ids;
  }

  /** Some jobs are still under way. */
  async #goOn(
    before: ProviderState,
    state: ProviderState,
    judged: readonly Judged[],
  ): Promise<void> {
    const { database, world, pollIntervalMs } = this.#options;
    const now = database.now();
    const asked = Math.max(...judged.map(({ waitMs = 0 }) => waitMs));
    const statuses = (of: ProviderState): string => of.jobs.map(({ status }) => status).join();
    const isNews = statuses(before) !== statuses(state);
    const detail = { jobs: countOf(state.jobs) };
    await this.#commit({
      event: 'poll',
      providerState: state,
      nextAt: now + Math.max(nextPollMs(world, pollIntervalMs), asked),
      pollErrors: judged.filter(({ isError }) => isError).length,
      told: isNews ? taskEvent('batch_task_polled', this.#row, detail) : undefined,
      now,
    });
  }

  /** All jobs have ended: first the output is on disk, then the state moves. */
  async #end(
    event: BatchTaskEvent,
    ended: { state: ProviderState; judged: readonly Judged[]; planned: readonly PlannedJob[] },
  ): Promise<void> {
    const { database, world } = this.#options;
    const { state, judged } = ended;
    const now = database.now();
    const isFailed = event === 'fail';
    failpoint(world, 'batch.before-output');
    const outputKey = isFailed ? undefined : await this.#writeOutput(ended);
    failpoint(world, 'batch.after-output');
    const collected = judged.flatMap((each) => each.collected ?? []);
    const sum = (pick: (each: Collected) => number): number =>
      collected.reduce((total, each) => total + pick(each), 0);
    const results = {
      ok: sum(({ ok }) => ok),
      failed: sum((each) => each.failed),
      tokensIn: sum(({ tokensIn }) => tokensIn),
      tokensOut: sum(({ tokensOut }) => tokensOut),
    };
    const [firstError] = state.jobs.flatMap(({ error }) => error ?? []);
    const reason = firstError ?? 'all of its jobs failed';
    await this.#commit(
      {
        event,
        providerState: state,
        outputKey,
        ...(isFailed && { error: errorOf(new Failure('provider_rejected', reason)) }),
        pollErrors: judged.filter(({ isError }) => isError).length,
        results,
        told: taskEvent(endEvents[event], this.#row, { ...results, ...(isFailed && { reason }) }),
        now,
      },
      { collected: collected[0], reason },
    );
  }

  async #writeOutput(ended: {
    state: ProviderState;
    planned: readonly PlannedJob[];
  }): Promise<string> {
    const { blobs } = this.#options;
    const merge = ended.planned[0]?.provider.merge ?? 'flat';
    const parts = mergedOutput(ended.state.jobs, { taskType: this.#row.task_type, merge, blobs });
    return putParts(blobs, parts);
  }

  /** A guard ends the task, whatever its jobs do; they are called off. */
  async fail(failure: Failure): Promise<void> {
    const { database } = this.#options;
    await this.#commit(
      {
        event: 'fail',
        error: errorOf(failure),
        isCancelDue: this.#row.provider_state !== null,
        nextAt: database.now(),
        told: taskEvent('batch_task_failed', this.#row, {
          code: failure.code,
          reason: failure.message,
        }),
        now: database.now(),
      },
      { collected: undefined, reason: failure.message },
    );
  }

  async #commit(
    change: Parameters<typeof moveTask>[2],
    ended?: { readonly collected: Collected | undefined; readonly reason: string },
  ): Promise<void> {
    const { database, world, onEnd } = this.#options;
    await database.write(async (transaction) => {
      if (!(await moveTask(transaction, this.#row, change))) return;
      await appendEvents(transaction, this.#odd, change.now);
      if (ended && onEnd) await onEnd(transaction, this.#endedTask(ended, change.now));
      failpoint(world, 'batch.before-commit');
    });
    failpoint(world, 'batch.after-commit');
  }

  #endedTask(
    { collected, reason }: { collected: Collected | undefined; reason: string },
    now: number,
  ): EndedTask {
    const { places = new Map(), blobKey } = collected ?? {};
    return { row: this.#row, results: places, blobKey, reason, now };
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

function failed(entry: ProviderJob, error: string): ProviderJob {
  return { ...entry, status: 'FAILED', error: error.slice(0, limits.batch.errorCharactersMax) };
}

/** Completions tell by their status that some failed, transcriptions by their results. */
function completed(entry: ProviderJob, collected: Collected, isCompletion: boolean): ProviderJob {
  if (!isCompletion) return { ...entry, status: 'COMPLETED', result: resultEntry(collected) };
  const status = collected.failed > 0 ? 'PARTIAL_COMPLETE' : 'COMPLETED';
  return { ...entry, status, output_uri: `${blobScheme}${collected.blobKey}` };
}

function countOf(jobs: readonly ProviderJob[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of jobs) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function* nothing(): AsyncGenerator<never, void> {}
