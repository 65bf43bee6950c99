/**
 * Submits pending tasks to their providers. The intent is already on disk; each response of the
 * provider is recorded as it arrives; the move to `in_progress` is a compare-and-set on `pending`.
 * A task that is delivered twice is submitted once. After a crash the next try first looks for jobs
 * that the last one may have started, as far as the provider allows (`recognizedBy`).
 */

import type { BlobStore } from '../../blob/blob.ts';
import { backoffMs, ceilingMs, defaultPolicy } from '../../kernel/backoff.ts';
import { Failure, failures, isRetried, toFailure } from '../../kernel/failure/failure.ts';
import { batchTaskState } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import type { World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type { BatchProvider, SubmitContext } from '../../provider/batch/batch-provider.ts';
import { takeDueTasks } from '../../store/batch/taking.ts';
import {
  type BatchTaskRow,
  getBatchTask,
  moveTask,
  noteSubmission,
  postpone,
  providerStateOf,
  reportLateJobs,
} from '../../store/batch/tasks.ts';
import type { Database, Transaction } from '../../store/driver/database.ts';
import { giveUp } from './expiry.ts';
import { TaskPool } from './lanes.ts';
import {
  askedOf,
  type BatchProviders,
  type Begun,
  firstState,
  type PlannedJob,
  planJobs,
  refOf,
} from './plan.ts';
import type { TaskLock } from './task-lock.ts';

export interface BatchOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly providers: BatchProviders;
  readonly onError: (what: string, error: unknown) => void;
  readonly pollIntervalMs?: number | undefined;
  /** How long a task stays locked without a renewal. */
  readonly holdMs?: number | undefined;
  /** Runs in the transaction that ends a task: its waiting items continue. */
  readonly onEnd?: ((transaction: Transaction, ended: EndedTask) => Promise<void>) | undefined;
}

export interface EndedTask {
  readonly row: BatchTaskRow;
  /** The location of each result, by id; empty if the whole task failed. */
  readonly results: ReadonlyMap<string, ResultPlace>;
  readonly blobKey: string | undefined;
  readonly reason: string;
  readonly now: number;
}

export interface ResultPlace {
  readonly at: number;
  readonly bytes: number;
  readonly isOk: boolean;
  readonly isRetryable: boolean;
}

export function submissionPool(options: BatchOptions, signal: AbortSignal): TaskPool {
  return new TaskPool(options, signal, {
    size: limits.batch.submitConcurrencyMax,
    what: 'submitting',
    take: (transaction, taking) => takeDueTasks(transaction, 'submit', taking),
    work: (row, lock) => submitTask(row, { ...options, lock, signal }),
  });
}

interface SubmissionOptions extends BatchOptions {
  readonly lock: TaskLock;
  readonly signal: AbortSignal;
}

async function submitTask(row: BatchTaskRow, options: SubmissionOptions): Promise<void> {
  const { providers, blobs } = options;
  let planned: PlannedJob[];
  try {
    planned = planJobs(row, providers, blobs);
  } catch (error) {
    return giveUp(row, options, toFailure(error));
  }
  if (planned.length === 0) {
    return giveUp(row, options, new Failure('bad_request', 'none of its addresses can be used'));
  }
  await new Submission(row, planned, options).run();
}

/** Records of a submission, by the index of the job. */
export interface Notes {
  [index: number]: {
    id?: string;
    error?: string;
    notes?: Record<string, string>;
    /** The job that the provider refused for lack of capacity, and how many there were. */
    refusedId?: string;
    refusals?: number;
    /** It was abandoned, and no longer runs at the provider. */
    isEnded?: boolean;
  };
}

class Submission {
  readonly #row: BatchTaskRow;
  readonly #planned: readonly PlannedJob[];
  readonly #options: SubmissionOptions;
  readonly #noted: Notes;

  constructor(row: BatchTaskRow, planned: readonly PlannedJob[], options: SubmissionOptions) {
    this.#row = row;
    this.#planned = planned;
    this.#options = options;
    this.#noted = JSON.parse(row.submission);
  }

  /** Jobs of one provider are started one after the other; providers do not wait for each other. */
  async run(): Promise<void> {
    const jobs = [...this.#planned.entries()];
    const byProvider = Map.groupBy(jobs, ([, { provider }]) => provider.name);
    const ended = await Promise.all([...byProvider.values()].map((own) => this.#beginAll(own)));
    const failures = ended.flatMap((failure) => failure ?? []);
    if (failures.some(({ code }) => code === 'lease_lost')) return this.#afterLoss();
    const [failure] = failures;
    if (!failure) return this.#conclude();
    // Jobs started so far must be found by the process that submits the rest.
    if (this.#options.signal.aborted) await this.#save();
    else await this.#tryLater(failure);
  }

  /** Returns why some of the jobs are not started yet. */
  async #beginAll(jobs: readonly (readonly [number, PlannedJob])[]): Promise<Failure | undefined> {
    for (const [index, planned] of jobs) {
      const noted = this.#entry(index);
      if (noted.id !== undefined || noted.error !== undefined) continue;
      try {
        noted.id = await this.#begin(planned, index);
      } catch (error) {
        const failure = toFailure(error);
        const isOver = failure.code === 'lease_lost' || this.#options.signal.aborted;
        if (isOver || this.#mayTryAgain(failure)) return failure;
        noted.error = failure.message;
      }
      if (index < this.#planned.length - 1 && !(await this.#save())) {
        return new Failure('lease_lost', 'another process took the task');
      }
    }
    return undefined;
  }

  #entry(index: number): NonNullable<Notes[number]> {
    this.#noted[index] ??= {};
    return this.#noted[index];
  }

  async #begin({ provider, job }: PlannedJob, index: number): Promise<string> {
    const { world, lock } = this.#options;
    const context = this.#context(provider, index);
    // Only an earlier try can have started it; the first need not look.
    if (this.#row.epoch > 1) {
      const found = await provider.find(job, context);
      if (found !== undefined) return found;
    }
    // A submitter that may lose the task before the response arrives must not submit.
    if (!lock.isLongEnough) {
      throw new Failure('lease_lost', 'the time to submit this task has run out');
    }
    failpoint(world, 'batch.before-submit');
    const id = await provider.submit(job, context);
    failpoint(world, 'batch.after-submit');
    return id;
  }

  #context({ recognizedBy }: BatchProvider, index: number): SubmitContext {
    const entry = this.#entry(index);
    entry.notes ??= {};
    const notes = entry.notes;
    return {
      // If a job cannot be recognized later, its response is awaited even by a stopping process.
      signal: recognizedBy === 'none' ? new AbortController().signal : this.#options.signal,
      intendedAt: this.#row.created_at,
      notes,
      note: async (name, value) => {
        notes[name] = value;
        if (!(await this.#save())) throw new Failure('lease_lost', 'another process took the task');
      },
    };
  }

  #save(): Promise<boolean> {
    const { database } = this.#options;
    const submission = { ...this.#noted } as unknown as JsonObject;
    return database.write((transaction) =>
      noteSubmission(transaction, this.#row, { submission, now: database.now() }),
    );
  }

  #mayTryAgain({ code }: Failure): boolean {
    if (isWaitedFor(code)) return true;
    return isRetried(code) && this.#row.attempt + 1 < limits.batch.submitAttemptsMax;
  }

  async #tryLater(failure: Failure): Promise<void> {
    const { database, world, lock } = this.#options;
    const { attempt, waits, wait_reason: before } = this.#row;
    const backoff = backoffMs({
      ...defaultPolicy,
      failedTries: attempt,
      random: () => world.random(),
    });
    const waitMs = isWaitedFor(failure.code)
      ? (failure.retryAfterMs ?? growingWaitMs(world, waits))
      : Math.max(backoff, failure.retryAfterMs ?? limits.wait.retryAfterMsMin);
    const now = database.now();
    await this.#save();
    await lock.release();
    const reason = waitReasonOf(failure);
    const told = taskEvent('batch_task_waiting', this.#row, { code: failure.code, reason });
    await database.write((transaction) =>
      postpone(transaction, this.#row, {
        nextAt: now + waitMs,
        attempt: isWaitedFor(failure.code) ? attempt : attempt + 1,
        reason,
        told: reason === before ? undefined : told,
        now,
      }),
    );
  }

  async #conclude(): Promise<void> {
    const { database, world, pollIntervalMs, lock } = this.#options;
    const begun = this.#planned.map((_, index) => this.#noted[index] as Begun);
    const [first] = begun.filter((outcome) => 'error' in outcome);
    await lock.release();
    if (first && begun.every((outcome) => 'error' in outcome)) {
      const failure = new Failure('provider_rejected', `the submission failed: ${first.error}`);
      return giveUp(this.#row, this.#options, failure);
    }
    const now = database.now();
    const providerState = firstState(this.#row, this.#planned, begun);
    const unbegun = this.#planned.filter((_, index) => 'error' in (begun[index] as Begun));
    const failed = unbegun.reduce((sum, planned) => sum + askedOf(planned, this.#row), 0);
    const isOurs = await database.write(async (transaction) => {
      const moved = await moveTask(transaction, this.#row, {
        event: 'submit',
        providerState,
        submission: { ...this.#noted } as unknown as JsonObject,
        nextAt: now + nextPollMs(world, pollIntervalMs),
        results: { ok: 0, failed, tokensIn: 0, tokensOut: 0 },
        told: taskEvent('batch_task_submitted', this.#row, { jobs: begun.length }),
        now,
      });
      failpoint(world, 'batch.before-commit');
      return moved;
    });
    failpoint(world, 'batch.after-commit');
    if (!isOurs) await this.#afterLoss();
  }

  /**
   * Another process has the task, or it has ended: jobs started here must not be charged in vain.
   */
  async #afterLoss(): Promise<void> {
    const { database } = this.#options;
    const stored = await getBatchTask(database, this.#row.key, this.#row.caller);
    // The process that has a pending task looks for jobs started here.
    if (!stored || stored.state === batchTaskState.pending) return;
    const known = providerStateOf(stored)?.jobs.map((job) => job.external_job_id) ?? [];
    const begun = Object.entries(this.#noted).flatMap(([index, { id }]) =>
      id === undefined || known.includes(id) ? [] : [[index, id] as const],
    );
    if (begun.length === 0) return;
    if (stored.state !== batchTaskState.in_progress) {
      const late = { key: stored.key, ids: Object.fromEntries(begun), now: database.now() };
      return database.write((transaction) => reportLateJobs(transaction, late));
    }
    for (const [index, id] of begun) await this.#cancelDouble(Number(index), id);
  }

  /** Two submitters have started the same job: the task refers to the other one. */
  async #cancelDouble(index: number, id: string): Promise<void> {
    const planned = this.#planned[index];
    if (!planned) return;
    const ref = refOf(planned, { external_job_id: id, status: 'RUNNING' });
    try {
      await planned.provider.cancel(ref, AbortSignal.timeout(limits.batch.callMs));
    } catch (error) {
      this.#options.onError(`canceling ${id}, which was started twice`, error);
    }
  }
}

/** Waits that use no try: the provider said when, or a person has to act. */
function isWaitedFor(code: Failure['code']): boolean {
  return failures[code].kind === 'rate_limited' || code === 'provider_quota';
}

/** The text of a failure that explains why a task waits. */
export function waitReasonOf({ code, message }: Failure): string {
  return code === 'provider_quota' ? `${message}. ${failures[code].advice}` : message;
}

/** Grows with each wait if the provider gives no time. */
export function growingWaitMs(world: World, waits: number): number {
  const { retryAfterMsDefault: baseMs, retryAfterMsMax: capMs } = limits.wait;
  return nextPollMs(world, ceilingMs({ failedTries: waits, baseMs, factor: 2, capMs }));
}

export function errorOf({ code, message }: Failure): JsonObject {
  const { errorCode, kind } = failures[code];
  return { code, error_code: errorCode, kind, message };
}

/** Around the interval, with jitter per task. */
export function nextPollMs(world: World, intervalMs = limits.batch.pollIntervalMs): number {
  const spread = 2 * limits.batch.pollJitterFactor * intervalMs;
  return Math.round(intervalMs + (world.random() - 0.5) * spread);
}

export function taskEvent(
  kind: NewEvent['kind'],
  row: Pick<BatchTaskRow, 'key' | 'caller' | 'task_type' | 'provider'>,
  detail: JsonObject = {},
): NewEvent {
  const { key, caller, task_type, provider } = row;
  const named = { task_id: key, task_type, provider, caller };
  return { kind, jobId: null, detail: { ...named, ...detail } };
}
