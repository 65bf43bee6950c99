/**
 * Ends abandoned tasks at the provider: tasks that were canceled, are too old, or whose polls
 * failed too often. Each job is polled and canceled while it runs, and its results are collected
 * when it has ended. Only then do the waiting items continue: the same requests must not be sent
 * again while the first batch may still be charged. A pass that cannot reach the provider is
 * repeated, by any process with the provider's settings.
 */
import { windDownActions } from '../../kernel/batch-decision.ts';
import { toFailure } from '../../kernel/failure/failure.ts';
import { batchJob } from '../../kernel/lifecycle/batch-job.ts';
import { batchTaskState } from '../../kernel/lifecycle/batch-task.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  isGivenUp,
  type JsonObject,
  type ProviderJob,
  type ProviderState,
  stateOfStatus,
} from '../../kernel/provider-state.ts';
import { failpoint } from '../../observe/failpoint.ts';
import { takeGivenUpTasks } from '../../store/batch/taking.ts';
import { type BatchTaskRow, providerStateOf, recordWindDown } from '../../store/batch/tasks.ts';
import { appendEvents } from '../../store/delivery/events.ts';
import { collectJob, failed, nothing, sumOf, writeOutput } from './collect.ts';
import { TaskPool } from './lanes.ts';
import { askedOf, firstState, type PlannedJob, planJobs, refOf } from './plan.ts';
import { type Collected, hasResults } from './results.ts';
import { type BatchOptions, growingWaitMs, type Notes, taskEvent } from './submit.ts';
import type { TaskLock } from './task-lock.ts';

export function windDownPool(options: BatchOptions, signal: AbortSignal): TaskPool {
  return new TaskPool(options, signal, {
    size: limits.batch.submitConcurrencyMax,
    what: 'ending the jobs of',
    take: takeGivenUpTasks,
    work: (row, lock) => new WindDown(row, options, lock).run(),
  });
}

/** The outcome of a job in this pass. */
interface Outcome {
  readonly entry: ProviderJob | undefined;
  /** Why it may still run, or bring results. */
  readonly wait?: string;
  readonly waitMs?: number | undefined;
  readonly collected?: Collected;
}

class WindDown {
  readonly #row: BatchTaskRow;
  readonly #options: BatchOptions;
  readonly #lock: TaskLock;
  readonly #noted: Notes;

  constructor(row: BatchTaskRow, options: BatchOptions, lock: TaskLock) {
    this.#row = row;
    this.#options = options;
    this.#lock = lock;
    this.#noted = JSON.parse(row.submission);
  }

  async run(): Promise<void> {
    const { providers, blobs } = this.#options;
    const planned = planJobs(this.#row, providers, blobs);
    const state = this.#state();
    const outcomes: Outcome[] = [];
    for (const [index, each] of planned.entries()) {
      outcomes.push(await this.#end(each, index, state?.jobs[index]));
      if (this.#lock.signal.aborted) return;
    }
    await this.#commit(planned, state, outcomes);
  }

  /** A damaged state is ignored; its jobs are found by their tokens. */
  #state(): ProviderState | undefined {
    try {
      return providerStateOf(this.#row);
    } catch (error) {
      this.#options.onError(`reading the state of batch task ${this.#row.key}`, error);
      return undefined;
    }
  }

  async #end(planned: PlannedJob, index: number, entry?: ProviderJob): Promise<Outcome> {
    const isOpen = entry === undefined || !isOver(entry);
    if (!isOpen || this.#noted[index]?.isEnded) return { entry };
    try {
      const id = entry?.external_job_id || (await this.#idOf(planned, index));
      if (id === undefined) return { entry };
      const known = entry ?? { external_job_id: id, status: 'SUBMITTED' as const };
      return await this.#endJob(planned, known);
    } catch (error) {
      const failure = toFailure(error);
      if (failure.code === 'storage_full' || failure.code === 'internal_error') throw error;
      return { entry, wait: failure.message, waitMs: failure.retryAfterMs };
    }
  }

  /** An interrupted submission may have started the job without recording it. */
  async #idOf({ provider, job }: PlannedJob, index: number): Promise<string | undefined> {
    const { id, notes = {}, error } = this.#noted[index] ?? {};
    if (id !== undefined) return id;
    if (error !== undefined && this.#row.provider_state !== null) return undefined;
    return provider.find(job, {
      signal: this.#lock.signal,
      intendedAt: this.#row.created_at,
      notes,
      note: async () => undefined,
    });
  }

  async #endJob(planned: PlannedJob, entry: ProviderJob): Promise<Outcome> {
    const { provider } = planned;
    const ref = refOf(planned, entry);
    failpoint(this.#options.world, 'batch.before-wind-down');
    const answer = await provider.poll(ref, this.#lock.signal);
    if (windDownActions[answer.said] !== 'cancel') return this.#settle(planned, entry, answer);
    const isStoppable = await provider.cancel(ref, this.#lock.signal);
    failpoint(this.#options.world, 'batch.after-cancel');
    const after = await provider.poll(ref, this.#lock.signal);
    if (after.said === 'gone') return { entry: failed(entry, 'canceled at the provider') };
    if (windDownActions[after.said] !== 'cancel') return this.#settle(planned, entry, after);
    const what = isStoppable ? 'was asked to end it' : 'has no way to end it';
    return { entry, wait: `${provider.name} runs ${ref.externalId} and ${what}` };
  }

  async #settle(
    planned: PlannedJob,
    entry: ProviderJob,
    answer: Awaited<ReturnType<PlannedJob['provider']['poll']>>,
  ): Promise<Outcome> {
    const { database, blobs } = this.#options;
    const { name } = planned.provider;
    const age = database.now() - (this.#row.submitted_at ?? this.#row.created_at);
    if (answer.said === 'gone' && age < limits.batch.youngJobMs) {
      return { entry, wait: `${name} does not know ${entry.external_job_id} yet` };
    }
    switch (windDownActions[answer.said]) {
      case 'collect':
        return collectJob({ planned, entry, answer }, { row: this.#row, blobs });
      case 'ended':
        return { entry: failed(entry, entry.error ?? answer.detail ?? answer.said) };
      default:
        return { entry, wait: answer.detail ?? answer.said, waitMs: answer.retryAfterMs };
    }
  }

  async #commit(
    planned: readonly PlannedJob[],
    before: ProviderState | undefined,
    outcomes: readonly Outcome[],
  ): Promise<void> {
    const { database, blobs, world, onEnd } = this.#options;
    const row = this.#row;
    const isTooOld = database.now() - row.created_at > limits.batch.windDownMsMax;
    const open = isTooOld ? undefined : outcomes.find(({ wait }) => wait !== undefined);
    const results = this.#count(planned, before, outcomes);
    const providerState = this.#stateOf(planned, before, outcomes);
    const isNews = outcomes.some((each) => each.collected !== undefined && each.collected.ok > 0);
    // Written again with the new results, beside those of other jobs.
    const outputKey =
      isNews && providerState?.jobs.some(hasResults)
        ? await writeOutput(row, { jobs: providerState.jobs, planned, blobs })
        : undefined;
    await this.#lock.release();
    const now = database.now();
    const waitMs = open?.waitMs ?? growingWaitMs(world, row.waits);
    const collected = outcomes.flatMap((each) => each.collected ?? []);
    await database.write(async (transaction) => {
      const isOurs = await recordWindDown(transaction, row, {
        wait: open?.wait,
        results,
        providerState,
        outputKey,
        now,
        nextAt: now + waitMs,
        submission: { ...this.#noted } as unknown as JsonObject,
      });
      if (!isOurs || open) return;
      const told = taskEvent('batch_task_wound_down', row, { ...results, confirmed: !isTooOld });
      await appendEvents(transaction, [told], now);
      const { places = new Map(), blobKey } = collected[0] ?? {};
      await onEnd?.(transaction, { row, results: places, blobKey, reason: reasonOf(row), now });
      failpoint(world, 'batch.before-commit');
    });
    failpoint(world, 'batch.after-commit');
  }

  /** Counts a job once, in the pass in which it ended. */
  #count(
    planned: readonly PlannedJob[],
    before: ProviderState | undefined,
    outcomes: readonly Outcome[],
  ) {
    const counted = outcomes.map(({ entry, wait, collected }, index) => {
      const earlier = before?.jobs[index];
      const isNew = !this.#noted[index]?.isEnded && !(earlier && isOver(earlier));
      if (wait !== undefined || !isNew) return nothing;
      this.#noted[index] = { ...this.#noted[index], isEnded: true };
      if (collected) return collected;
      const each = planned[index];
      return entry && each ? { ...nothing, failed: askedOf(each, this.#row) } : nothing;
    });
    return sumOf(counted);
  }

  #stateOf(
    planned: readonly PlannedJob[],
    before: ProviderState | undefined,
    outcomes: readonly Outcome[],
  ): ProviderState | undefined {
    if (outcomes.every(({ entry }) => entry === undefined)) return undefined;
    const found = outcomes.map(({ entry }) =>
      entry ? { id: entry.external_job_id } : { error: 'it was never started' },
    );
    const state = before ?? firstState(this.#row, planned, found);
    const jobs = state.jobs.map((job, index) => ({ ...job, ...outcomes[index]?.entry }));
    return { ...state, jobs };
  }
}

/** The provider reported its end, or it was never started. */
function isOver(entry: ProviderJob): boolean {
  return isFinal(batchJob, stateOfStatus[entry.status]) && !isGivenUp(entry);
}

function reasonOf({ state, error }: BatchTaskRow): string {
  if (state === batchTaskState.canceled) return 'canceled';
  const { message } = JSON.parse(error ?? '{}') as { message?: string };
  return message ?? 'it was abandoned';
}
