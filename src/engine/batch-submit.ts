/**
 * Hands pending tasks to their providers. The intent is on disk already; what a provider answers is
 * noted as it comes; the move to `in_progress` is a compare-and-set on `pending`. A task that is
 * delivered twice is submitted once. After a crash the next attempt first looks for what the last
 * one may have begun, as far as the provider lets it be known (`recognizedBy`).
 */
import type { BlobStore } from '../blob/blob.ts';
import { backoffMs, defaultPolicy } from '../kernel/backoff.ts';
import { Failure, failures, isRetried, toFailure } from '../kernel/failure.ts';
import { limits } from '../kernel/limits.ts';
import type { JsonObject } from '../kernel/provider-state.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import { failpoint } from '../observe/failpoint.ts';
import type { SubmitContext } from '../provider/batch/batch-provider.ts';
import {
  type BatchTaskRow,
  getBatchTask,
  moveTask,
  noteSubmission,
  postpone,
  takeDueTasks,
} from '../store/batch-tasks.ts';
import type { Database, Transaction } from '../store/database.ts';
import { cancelJobs } from './batch-cancel.ts';
import {
  type BatchProviders,
  type Begun,
  firstState,
  type PlannedJob,
  planJobs,
} from './batch-plan.ts';

export interface BatchOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly providers: BatchProviders;
  readonly onError: (what: string, error: unknown) => void;
  readonly pollIntervalMs?: number | undefined;
  /** Runs in the transaction that ends a task: whoever waits for it goes on. */
  readonly onEnd?: ((transaction: Transaction, ended: EndedTask) => Promise<void>) | undefined;
}

export interface EndedTask {
  readonly row: BatchTaskRow;
  /** Where each result stands, by its id; empty where the task failed as a whole. */
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

/** Submits what is due. Returns how many tasks were taken. */
export async function submitDue(options: BatchOptions, signal: AbortSignal): Promise<number> {
  let taken = 0;
  while (!signal.aborted) {
    const rows = await takePage(options, 'pending');
    taken += rows.length;
    for (const row of rows) {
      await submitTask(row, options, signal).catch((error: unknown) => {
        // The task is due again when its hold ends; nothing is lost but time.
        options.onError(`submitting batch task ${row.key}`, error);
      });
    }
    if (rows.length < submitPage) break;
  }
  return taken;
}

/** One after the other, each within its hold. */
const submitPage = 1;

export function takePage(
  { database }: BatchOptions,
  state: 'pending' | 'in_progress',
): Promise<BatchTaskRow[]> {
  const now = database.now();
  const limit = state === 'pending' ? submitPage : limits.batch.pageMax;
  return database.write((transaction) =>
    takeDueTasks(transaction, state, { limit, now, heldUntil: now + limits.batch.holdMs }),
  );
}

async function submitTask(
  row: BatchTaskRow,
  options: BatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { database, providers, blobs } = options;
  if (database.now() - row.created_at > limits.batch.taskAgeMsMax) {
    return fail(row, options, new Failure('batch_expired', 'it was never taken by its provider'));
  }
  let planned: PlannedJob[];
  try {
    planned = planJobs(row, providers, blobs);
  } catch (error) {
    return fail(row, options, toFailure(error));
  }
  if (planned.length === 0) {
    return fail(row, options, new Failure('bad_request', 'none of its addresses can be used'));
  }
  await new Submission(row, planned, options).run(signal);
}

/** What is noted while a submission is under way: by the place of the job. */
interface Notes {
  [index: number]: { id?: string; error?: string; notes?: Record<string, string> };
}

class Submission {
  readonly #row: BatchTaskRow;
  readonly #planned: readonly PlannedJob[];
  readonly #options: BatchOptions;
  readonly #noted: Notes;
  readonly #heldUntil: number;

  constructor(row: BatchTaskRow, planned: readonly PlannedJob[], options: BatchOptions) {
    this.#row = row;
    this.#planned = planned;
    this.#options = options;
    this.#noted = JSON.parse(row.submission);
    this.#heldUntil = row.next_at;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const [index, planned] of this.#planned.entries()) {
      const noted = this.#entry(index);
      if (noted.id !== undefined || noted.error !== undefined) continue;
      try {
        noted.id = await this.#begin(planned, index, signal);
      } catch (error) {
        if (signal.aborted) return;
        const failure = toFailure(error);
        if (failure.code === 'lease_lost') return this.#afterLoss(signal);
        if (isRetried(failure.code) && this.#mayTryAgain(failure)) return this.#tryLater(failure);
        noted.error = failure.message;
      }
      if (index < this.#planned.length - 1 && !(await this.#save())) return this.#afterLoss(signal);
    }
    await this.#conclude(signal);
  }

  #entry(index: number): NonNullable<Notes[number]> {
    this.#noted[index] ??= {};
    return this.#noted[index];
  }

  async #begin({ provider, job }: PlannedJob, index: number, signal: AbortSignal): Promise<string> {
    const { world, database } = this.#options;
    const context = this.#context(index, signal);
    // Only an earlier attempt can have begun it; the first need not ask.
    if (this.#row.epoch > 1) {
      const found = await provider.find(job, context);
      if (found !== undefined) return found;
    }
    // Whoever is too late to hear the answer within the hold must not ask: another may be asking.
    if (database.now() + 2 * limits.batch.callMs > this.#heldUntil) {
      throw new Failure('lease_lost', 'the time to submit this task has run out');
    }
    failpoint(world, 'batch.before-submit');
    const id = await provider.submit(job, context);
    failpoint(world, 'batch.after-submit');
    return id;
  }

  #context(index: number, signal: AbortSignal): SubmitContext {
    const entry = this.#entry(index);
    entry.notes ??= {};
    const notes = entry.notes;
    return {
      signal,
      intendedAt: this.#row.created_at,
      notes,
      note: async (name, value) => {
        notes[name] = value;
        if (!(await this.#save())) throw new Failure('lease_lost', 'the task was taken away');
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
    if (failures[code].kind === 'rate_limited') return true;
    return this.#row.attempt + 1 < limits.batch.submitAttemptsMax;
  }

  async #tryLater(failure: Failure): Promise<void> {
    const { database, world } = this.#options;
    const isLimit = failures[failure.code].kind === 'rate_limited';
    const { attempt } = this.#row;
    const backoff = backoffMs({ ...defaultPolicy, attempt, random: () => world.random() });
    const waitMs = Math.max(backoff, failure.retryAfterMs ?? limits.wait.retryAfterMsMin);
    const now = database.now();
    await this.#save();
    await database.write((transaction) =>
      postpone(transaction, this.#row, {
        nextAt: now + waitMs,
        attempt: isLimit ? attempt : attempt + 1,
        now,
      }),
    );
  }

  async #conclude(signal: AbortSignal): Promise<void> {
    const { database, world, pollIntervalMs } = this.#options;
    const begun = this.#planned.map((_, index) => this.#noted[index] as Begun);
    const [first] = begun.filter((outcome) => 'error' in outcome);
    if (first && begun.every((outcome) => 'error' in outcome)) {
      const failure = new Failure('provider_rejected', `the submission failed: ${first.error}`);
      return fail(this.#row, this.#options, failure);
    }
    const now = database.now();
    const providerState = firstState(this.#row, this.#planned, begun);
    const isOurs = await database.write(async (transaction) => {
      const moved = await moveTask(transaction, this.#row, {
        event: 'submit',
        providerState,
        nextAt: now + nextPollMs(world, pollIntervalMs),
        told: taskEvent('batch_task_submitted', this.#row, { jobs: begun.length }),
        now,
      });
      failpoint(world, 'batch.before-commit');
      return moved;
    });
    failpoint(world, 'batch.after-commit');
    if (!isOurs) await this.#afterLoss(signal);
  }

  /** Canceled while it was being submitted: what was begun is ended. */
  async #afterLoss(signal: AbortSignal): Promise<void> {
    const { database } = this.#options;
    const stored = await getBatchTask(database, this.#row.key, this.#row.caller);
    if (stored?.state !== 'canceled') return;
    const jobs = this.#planned.flatMap((planned, index) => {
      const id = this.#noted[index]?.id;
      return id === undefined ? [] : [{ planned, externalId: id }];
    });
    await cancelJobs(jobs, this.#options, signal);
  }
}

/** A task with no future ends, and whoever waits for it is told. */
async function fail(row: BatchTaskRow, options: BatchOptions, failure: Failure): Promise<void> {
  const { database, onEnd } = options;
  const now = database.now();
  await database.write(async (transaction) => {
    const moved = await moveTask(transaction, row, {
      event: 'fail',
      error: errorOf(failure),
      told: taskEvent('batch_task_failed', row, { code: failure.code, reason: failure.message }),
      now,
    });
    if (!moved || !onEnd) return;
    const nothing = { results: new Map(), blobKey: undefined };
    await onEnd(transaction, { row, ...nothing, reason: failure.message, now });
  });
}

export function errorOf({ code, message }: Failure): JsonObject {
  const { errorCode, kind } = failures[code];
  return { code, error_code: errorCode, kind, message };
}

/** Around the interval, each task at a time of its own. */
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
