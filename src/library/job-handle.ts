/** The handle of a job: its events, its result, and its commands. */

import type { Commands } from '../engine/command/commands.ts';
import type { CancelReceipt } from '../engine/command/input.ts';
import type { Relay } from '../engine/relay.ts';
import { jobMessage } from '../kernel/job-message.ts';
import { type JobState, job as jobMachine, jobState } from '../kernel/lifecycle/job.ts';
import { isFinal } from '../kernel/lifecycle/machine.ts';
import type { StageState } from '../kernel/lifecycle/stage.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Event } from '../observe/event.ts';
import { listEvents } from '../store/delivery/events.ts';
import { countPartlyRead } from '../store/document/views.ts';
import type { Database } from '../store/driver/database.ts';
import { type CauseRow, countUnchanged, listCausesOfJob } from '../store/item/inbox.ts';
import { type ErrorRecord, type ItemRow, listItems } from '../store/item/items.ts';
import { countersOf, type JobCounters } from '../store/job/counters.ts';
import { getJobById, isPartialJob, type JobRow, statusesOf } from '../store/job/jobs.ts';

export interface JobSummary {
  readonly id: string;
  readonly corpus: string;
  readonly type: JobRow['type'];
  readonly state: JobState;
  /** The stage as shown to users. */
  readonly status: StageState;
  /** One sentence on the status; for a failed job, the error. */
  readonly message: string;
  readonly partial: boolean;
  readonly items: {
    readonly total: number;
    readonly done: number;
    readonly failed: number;
    readonly canceled: number;
    readonly waiting: number;
  };
  readonly chunks: number;
  readonly counters: JobCounters;
  readonly tokens: { readonly in: number; readonly out: number };
  readonly costCents: number;
  /** Tokens of these whose price is unknown. */
  readonly tokensUnpriced: number;
  /** Saved, because the answer had been paid for before. */
  readonly saved: { readonly tokens: number; readonly cents: number };
  readonly budgetCents: number | null;
  /** The time limit, and when it is reached; null while the job is paused. */
  readonly maxWallSeconds: number;
  readonly deadlineAt: number | null;
  /** Why it paused itself: `budget_reached`, `quota_exhausted`. */
  readonly pauseReason: string | null;
  readonly failedStage: string | null;
  readonly error: ErrorRecord | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly canceledAt: number | null;
}

export type JobCounts = Pick<JobSummary, 'state' | 'items' | 'pauseReason'>;

export interface JobOptions {
  readonly caller: string;
  readonly store: Database;
  readonly commands: Commands;
  readonly relay: Relay;
  readonly closing: AbortSignal;
  readonly isResumed: boolean;
}

export class Job {
  readonly id: string;
  readonly corpus: string;
  /** True if `ingest` resumed an unfinished job of the same documents. */
  readonly isResumed: boolean;
  readonly #rowId: number;
  readonly #options: JobOptions;

  constructor(row: JobRow, options: JobOptions) {
    this.id = row.key;
    this.corpus = row.corpus;
    this.isResumed = options.isResumed;
    this.#rowId = row.id;
    this.#options = options;
  }

  /**
   * The events after a number, past and future, until the job ends, the signal aborts or Pawl is
   * closed. No event is skipped or repeated.
   */
  async *events(from: { after?: number; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    const { store, relay, closing } = this.#options;
    const signals = from.signal ? [closing, from.signal] : [closing];
    const signal = AbortSignal.any(signals);
    const commitSignal = new EventSignal(signal);
    const { stop } = await relay.listen(() => commitSignal.ring());
    let after = from.after ?? 0;
    try {
      while (!signal.aborted) {
        // Read before the events: if the job has ended, all of its events are already stored.
        const hasEnded = isFinal(jobMachine, (await this.#row()).state);
        const limit = limits.event.pageMax;
        for (let isFull = true; isFull && !signal.aborted; ) {
          const page = await listEvents(store, { jobId: this.#rowId, after, limit });
          yield* page;
          after = page.at(-1)?.seq ?? after;
          isFull = page.length === limit;
        }
        if (hasEnded) return;
        await commitSignal.rung();
      }
    } finally {
      stop();
      commitSignal.takeDown();
    }
  }

  /** The events up to a number, from the history, without waiting for more. */
  async *history({ after, until }: { after: number; until: number }): AsyncGenerator<Event> {
    const limit = limits.event.pageMax;
    for (let from = after, isFull = true; isFull; ) {
      const page = await listEvents(this.#options.store, {
        jobId: this.#rowId,
        after: from,
        limit,
      });
      yield* page.filter(({ seq }) => seq <= until);
      from = page.at(-1)?.seq ?? from;
      isFull = page.length === limit && from < until;
    }
  }

  /** The current summary. */
  async summary(): Promise<JobSummary> {
    const [summary] = await summarize(this.#options.store, [await this.#row()]);
    return summary as JobSummary;
  }

  /** The part of the summary that is cheap enough to poll. */
  async counts(): Promise<JobCounts> {
    return countsOf(await this.#row());
  }

  /** The final summary; or the current one, if Pawl is closed before the end. */
  async wait(): Promise<JobSummary> {
    const { relay, closing } = this.#options;
    const commitSignal = new EventSignal(closing);
    const stop = relay.watch(() => commitSignal.ring());
    try {
      while (!closing.aborted && !isFinal(jobMachine, (await this.#row()).state))
        await commitSignal.rung();
    } finally {
      stop();
      commitSignal.takeDown();
    }
    return this.summary();
  }

  /** How many documents were unchanged, as far as the history is retained. */
  unchanged(): Promise<number> {
    return countUnchanged(this.#options.store, this.#rowId);
  }

  /** How many documents were read only in part. */
  async partlyRead(): Promise<number> {
    return countPartlyRead(this.#options.store, await this.#row());
  }

  items(page: { after?: number; limit?: number } = {}): Promise<ItemRow[]> {
    const { after = 0, limit = limits.request.pageItemsMax } = page;
    return listItems(this.#options.store, { jobId: this.#rowId, after, limit });
  }

  /** Why items of this job failed, the most frequent cause first. */
  causes(): Promise<CauseRow[]> {
    return listCausesOfJob(this.#options.store, this.#rowId);
  }

  cancel(): Promise<CancelReceipt> {
    return this.#options.commands.cancel(this.#options.caller, this.id);
  }

  pause(): Promise<void> {
    return this.#options.commands.pause(this.#options.caller, this.id);
  }

  /** A budget given here replaces the job's total budget. */
  resume({ budgetCents }: { budgetCents?: number | undefined } = {}): Promise<void> {
    return this.#options.commands.resume(this.#options.caller, this.id, budgetCents);
  }

  /** Retries failed and canceled items, each from its last committed step. */
  retry(): Promise<number> {
    return this.#options.commands.retry(this.#options.caller, this.id);
  }

  async #row(): Promise<JobRow> {
    return (await getJobById(this.#options.store, this.#rowId)) as JobRow;
  }
}

function countsOf(row: JobRow): JobCounts {
  return {
    state: row.state,
    pauseReason: row.pause_reason,
    items: {
      total: row.items_total,
      done: row.items_done,
      failed: row.items_failed,
      canceled: row.items_canceled,
      waiting: row.items_waiting,
    },
  };
}

export async function summarize(store: Database, rows: readonly JobRow[]): Promise<JobSummary[]> {
  const statuses = await statusesOf(store, rows);
  return rows.map((row, index) => summaryOf(row, statuses[index] ?? 'pending', store.now()));
}

function summaryOf(row: JobRow, status: StageState, now: number): JobSummary {
  // A job that waits for a retry keeps its last error, but only a failed job shows it.
  const error: ErrorRecord | null =
    row.error === null || row.state !== jobState.failed ? null : JSON.parse(row.error);
  return {
    id: row.key,
    corpus: row.corpus,
    type: row.type,
    ...countsOf(row),
    status,
    message: jobMessage(status, error),
    partial: isPartialJob(row),
    chunks: row.chunks_indexed,
    counters: countersOf(row, now),
    tokens: { in: row.tokens_in, out: row.tokens_out },
    costCents: row.cost_cents,
    tokensUnpriced: row.tokens_unpriced,
    saved: { tokens: row.tokens_saved, cents: row.saved_cents },
    budgetCents: row.budget_cents,
    maxWallSeconds: row.max_wall_seconds,
    deadlineAt: row.deadline_at,
    failedStage: row.failed_stage,
    error,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    canceledAt: row.canceled_at,
  };
}

/** Remembers a notification, so that none between two waits is missed. */
class EventSignal {
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.ring();
  #isRung = false;
  #answer: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Removes the listener: a long-lived signal would keep it in memory. */
  takeDown(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  ring(): void {
    this.#isRung = true;
    this.#answer?.();
  }

  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#answer = resolve));
    this.#isRung = false;
  }
}
