/**
 * One attempt at one item, top to bottom: run what can run, report each outcome, go on until the
 * item ends, waits, or is no longer ours. Nothing here writes: every outcome goes to the ledger,
 * and only the ledger's verdict lets the item go on. Steps that are free and reach nothing outside
 * may run ahead of it (docs/decisions/0063): what they find is reported in order all the same, and
 * is worth nothing unless the verdict on all before it is good.
 */

import { retryPolicyFor } from '../../kernel/backoff.ts';
import { Failure, failures, pauseReasons, toFailure } from '../../kernel/failure/failure.ts';
import type { Lifecycle, Progress } from '../../kernel/lifecycle/item.ts';
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { type Reaction, react, strongest } from '../../kernel/reaction.ts';
import { isSuspect } from '../../kernel/suspicion.ts';
import type { World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import { failpoint } from '../../observe/failpoint.ts';
import type {
  ModelUse,
  Pipeline,
  PipelineItem,
  StepPlace,
  StepResult,
} from '../../pipeline/pipeline.ts';
import { insertLines, wakeIfAnswered } from '../../store/batch/lines.ts';
import type { Reader } from '../../store/driver/database.ts';
import type { ClaimedRow } from '../../store/item/moves.ts';
import { EffectError, type Lease, type Move } from '../../store/item/reports.ts';
import { errorRecord } from './error-record.ts';
import { type Ledger, leaseOf } from './ledger.ts';
import {
  addUse,
  type DeferredStep,
  detailOf,
  effectOf,
  type FailedStep,
  failedDetail,
  type StepOutcome,
  valuesOf,
} from './step-outcome.ts';
import { takeWorkerSlot, type WorkerSlot } from './worker-slot.ts';

export { errorRecord } from './error-record.ts';
export type { WorkerSlot } from './worker-slot.ts';

export interface ExecutorOptions {
  readonly ledger: Ledger;
  readonly pipeline: Pipeline;
  readonly world: World;
  /** The time by which the store judges what is due. */
  readonly now: () => number;
  readonly reader: Reader;
  /** Its place among others; it needs none, where absent. */
  readonly seat?: WorkerSlot | undefined;
  /** There is no money for the next call. False: by now there is, and the item may go on. */
  readonly pauseJob?: (jobId: number, failure: Failure) => Promise<boolean>;
  /** Progress inside a step: told, but not stored. */
  readonly onProgress?: (event: NewEvent) => void;
}

/** How an attempt ended, for the worker that made it. */
export type Ending = 'ended' | 'waiting' | 'released' | 'lost';

/** Runs the item until it ends, waits or is lost. Aborting `signal` hands it back to the queue. */
export function runItem(
  row: ClaimedRow,
  worker: string,
  signal: AbortSignal,
  options: ExecutorOptions,
): Promise<Ending> {
  return new Attempt(row, worker, signal, options).run();
}

/** Why a running item is aborted: its lease is gone, or the process ends. */
export type AbortReason = 'lost' | 'shutdown';

class Attempt {
  readonly #options: ExecutorOptions;
  readonly #lifecycle: Lifecycle;
  readonly #lease: Lease;
  readonly #item: PipelineItem;
  readonly #signal: AbortSignal;
  readonly #scratch = new Map<string, unknown>();
  /** What each step has used of models in its last run. */
  readonly #uses = new Map<string, ModelUse>();
  readonly #aborts = new Set<(reason: unknown) => void>();
  /** Reports on their way to disk, while steps already run ahead of them. */
  #underWay: Promise<StepOutcome>[] = [];
  /** A step that killed its worker must be known by name: no step runs ahead of its own start. */
  readonly #crashes: number;
  /** What will be stored when all reports under way are applied, and what is stored for certain. */
  #progress: Progress;
  #stored: Progress;
  #failedAttempts: number;

  constructor(row: ClaimedRow, worker: string, signal: AbortSignal, options: ExecutorOptions) {
    this.#options = options;
    this.#lifecycle = options.pipeline.lifecycle;
    this.#lease = leaseOf(row, worker);
    this.#signal = signal;
    this.#crashes = row.crashes;
    this.#progress = row.progress;
    this.#stored = row.progress;
    this.#failedAttempts = row.attempt;
    this.#item = {
      id: row.id,
      jobId: row.job_id,
      ...placeOf(row),
      payer: { caller: row.caller, corpus: row.corpus },
      documentId: row.document_id,
      sourceKind: row.source_kind,
      source: row.source,
      gate: row.gate,
      force: row.force === 1,
      attempt: row.attempt + 1,
    };
  }

  async run(): Promise<Ending> {
    const abortAll = (): void => {
      for (const abort of this.#aborts) abort(this.#signal.reason);
    };
    this.#signal.addEventListener('abort', abortAll, { once: true });
    try {
      return await this.#runToEnd();
    } finally {
      this.#signal.removeEventListener('abort', abortAll);
    }
  }

  async #runToEnd(): Promise<Ending> {
    if (this.#signal.aborted) return this.#handBack();
    for (;;) {
      const ready = this.#lifecycle.ready(this.#progress);
      const { open, full } = await takeWorkerSlot(ready, this.#place(), this.#options);
      if (full && open.length === 0) {
        return (await this.#conclude(await this.#reported())) ?? this.#handBack(full);
      }
      const outcomes = await this.#runParallelSteps(open);
      if (outcomes.every(({ kind }) => kind === 'ok') && this.#mayRunAhead()) continue;
      const ending = await this.#conclude([...outcomes, ...(await this.#reported())]);
      if (ending) return ending;
    }
  }

  #place(): StepPlace {
    return { item: this.#item, reader: this.#options.reader, scratch: this.#scratch };
  }

  #mayRunAhead(): boolean {
    const { mayRunAhead } = this.#options.pipeline;
    if (!mayRunAhead || this.#crashes > 0 || this.#signal.aborted) return false;
    const ready = this.#lifecycle.ready(this.#progress);
    return ready.length > 0 && ready.every((step) => mayRunAhead(step, this.#item));
  }

  /** What became of the reports under way. */
  async #reported(): Promise<StepOutcome[]> {
    const underWay = this.#underWay;
    this.#underWay = [];
    return valuesOf(await Promise.allSettled(underWay));
  }

  /** How the attempt ends by what is known now; undefined: all is on disk, and it goes on. */
  async #conclude(outcomes: readonly StepOutcome[]): Promise<Ending | undefined> {
    const isUndone = outcomes.some((outcome) => outcome.kind === 'failed' && outcome.isEffect);
    if (isUndone) this.#progress = this.#stored;
    else if (outcomes.some(({ kind }) => kind === 'lost')) return 'lost';
    const ready = this.#lifecycle.ready(this.#progress);
    if (ready.length === 0) return 'ended';
    if (this.#signal.aborted) return this.#handBack();
    // What a step found that ran ahead of one whose report was refused, it found too early.
    const failed = outcomes
      .filter((outcome) => outcome.kind === 'failed')
      .filter(({ step }) => ready.includes(step));
    if (failed.length > 0) return (await this.#pauseJob(failed)) ?? this.#settle(failed);
    const deferred = outcomes.filter((outcome) => outcome.kind === 'deferred');
    if (deferred.length > 0) return this.#defer(deferred);
    // A committed step has cleared it, so it goes back to run beside others.
    return isSuspect(this.#crashes) ? this.#handBack() : undefined;
  }

  /** Where money is short, the job waits for a person, and no item of it has failed. */
  async #pauseJob(failed: readonly FailedStep[]) {
    const broke = failed.find(({ failure }) => pauseReasons[failure.code] !== undefined);
    const { pauseJob } = this.#options;
    if (!broke || !pauseJob) return undefined;
    return (await pauseJob(this.#lease.jobId, broke.failure)) ? 'lost' : this.#handBack();
  }

  /**
   * Branches run at the same time, and each commits as soon as it is done, whatever its siblings
   * do.
   */
  async #runParallelSteps(steps: readonly string[]): Promise<StepOutcome[]> {
    return valuesOf(await Promise.allSettled(steps.map((step) => this.#runStep(step))));
  }

  async #runStep(step: string): Promise<StepOutcome> {
    if (this.#lifecycle.isReached(this.#progress, step)) return { kind: 'ok', step };
    const { world } = this.#options;
    const startedAt = world.now();
    failpoint(world, 'step.before-run');
    let result: StepResult | undefined;
    try {
      result = await this.#callStep(step);
    } catch (error) {
      return { kind: 'failed', step, failure: toFailure(error), ms: world.now() - startedAt };
    }
    failpoint(world, 'step.after-run');
    const ms = world.now() - startedAt;
    if (result?.failure) return { kind: 'failed', step, failure: result.failure, ms, result };
    if (result?.deferred) return { kind: 'deferred', step, deferral: result.deferred };
    const report = this.#complete(step, result ?? {}, ms);
    // It may fail before anyone waits for it.
    report.catch(() => undefined);
    this.#underWay.push(report);
    return { kind: 'ok', step };
  }

  /** What is left to a batch task is written down as the lease is given up. */
  async #defer(deferred: readonly DeferredStep[]): Promise<Ending> {
    const { id, payer } = this.#item;
    const events = deferred.map(({ step, deferral: { taskType, model, requests } }) =>
      this.#event('item_deferred', step, { task_type: taskType, model, requests: requests.length }),
    );
    const verdict = await this.#report(
      { to: 'task' },
      {
        expect: this.#progress,
        events,
        effect: async (transaction) => {
          for (const { step, deferral } of deferred) {
            await deferral.effect?.(transaction);
            const line = { itemId: id, caller: payer.caller, step, ...deferral };
            await insertLines(transaction, line, this.#options.now());
          }
          return wakeIfAnswered(transaction, id);
        },
      },
    );
    return verdict === 'applied' ? 'waiting' : 'lost';
  }

  /**
   * Calls the step with a deadline. A step that ignores its signal is left behind, not waited for.
   */
  #callStep(step: string): Promise<StepResult | undefined> {
    const { pipeline, world, reader } = this.#options;
    const run = pipeline.steps[step];
    if (!run) throw new Failure('internal_error', `no function does the step ${step}`);
    const timeoutMs = pipeline.timeoutMs(step);
    this.#uses.delete(step);
    return new Promise((resolve, reject) => {
      const controller = new AbortController();
      const abort = (reason: unknown): void => {
        end();
        controller.abort(reason);
        reject(reason);
      };
      const cancel = world.setTimer(() => {
        abort(new Failure('timeout_soft', `${step} took longer than ${timeoutMs} ms`));
      }, timeoutMs);
      this.#aborts.add(abort);
      const context = {
        item: this.#item,
        world,
        reader,
        signal: controller.signal,
        scratch: this.#scratch,
        progress: (done: number, total: number) => this.#tell(step, done, total),
        used: (use: ModelUse) => this.#uses.set(step, addUse(this.#uses.get(step), use)),
      };
      const end = (): void => {
        cancel();
        this.#aborts.delete(abort);
      };
      (async () => run(context))().then(resolve, reject).finally(end);
    });
  }

  async #complete(step: string, result: StepResult, ms: number): Promise<StepOutcome> {
    const expect = this.#progress;
    const before = this.#lifecycle.ready(expect);
    const progress = result.unchanged
      ? this.#lifecycle.complete
      : this.#lifecycle.reach(expect, step);
    // Set at once, not after the commit: a sibling's report must expect what this one will have
    // left.
    this.#progress = progress;
    const completed = this.#event('step_completed', step, detailOf(result, ms));
    const failedBefore = this.#failedAttempts;
    this.#failedAttempts = 0;
    const started = this.#lifecycle.ready(progress).filter((name) => !before.includes(name));
    const { tokensIn = 0, tokensOut = 0, costCents = 0 } = result;
    const verdict = await this.#report(
      { to: 'advance', progress },
      {
        expect,
        usage:
          tokensIn + tokensOut + costCents > 0 ? { tokensIn, tokensOut, costCents } : undefined,
        counts: result.counts,
        effect: effectOf([result], this.#options.now),
        events: [
          completed,
          ...(result.unchanged ? [this.#event('item_unchanged', step)] : []),
          ...started.map((name) => this.#event('step_started', name)),
        ],
      },
    ).catch((error: unknown) => {
      if (error instanceof EffectError) return error;
      throw error;
    });
    if (verdict instanceof EffectError) {
      this.#failedAttempts = failedBefore;
      return { kind: 'failed', step, failure: toFailure(verdict.cause), ms, isEffect: true };
    }
    if (verdict === 'applied') this.#stored |= progress;
    return { kind: verdict === 'applied' ? 'ok' : 'lost', step };
  }

  /** Some branches failed: one decision for the item, with its reason in the history. */
  async #settle(failed: readonly FailedStep[]): Promise<Ending> {
    const reactions = failed.map((outcome) => ({ outcome, reaction: this.#react(outcome) }));
    const reaction = strongest(reactions.map((each) => each.reaction));
    const decisive = reactions.find((each) => each.reaction === reaction) ?? reactions[0];
    if (!decisive) throw new Failure('internal_error', 'nothing failed, and nothing went on');
    const { move, event } = this.#decide(reaction, decisive.outcome);
    const report = {
      expect: this.#progress,
      events: [
        ...failed.map((outcome) =>
          this.#event('step_failed', outcome.step, this.#detailOf(outcome)),
        ),
        event,
      ],
    };
    const results = failed.map(({ result }) => result);
    const effect = effectOf(results, this.#options.now);
    const verdict = await this.#report(move, { ...report, effect }).catch((error: unknown) => {
      if (!(error instanceof EffectError)) throw error;
      // That the step failed must be known, even where what it learned cannot be written.
      return this.#report(move, report);
    });
    if (verdict !== 'applied') return 'lost';
    return move.to === 'failed' ? 'ended' : 'waiting';
  }

  #detailOf(outcome: FailedStep): Record<string, unknown> {
    return failedDetail(outcome, { source: this.#item.source, use: this.#uses.get(outcome.step) });
  }

  #react({ step, failure }: FailedStep): Reaction {
    const { world } = this.#options;
    return react({
      outcome: { kind: failures[failure.code].kind, failure },
      // What a worker elsewhere has tried in vain is not tried all over again.
      failedTries: Math.max(this.#failedAttempts, failure.tries - 1),
      policy: retryPolicyFor(this.#lifecycle.row(step).stage, failure.code),
      now: this.#options.now(),
      random: () => world.random(),
    });
  }

  #decide(reaction: Reaction, { step, failure }: FailedStep): { move: Move; event: NewEvent } {
    const tries = Math.max(this.#failedAttempts + 1, failure.tries);
    const error = errorRecord({
      step,
      stage: this.#lifecycle.row(step).stage,
      failure,
      message: failure.message,
      attempt: tries,
      worker: this.#lease.worker,
      source: this.#item.source,
      now: this.#options.now(),
    });
    if (reaction.do === 'retry' || reaction.do === 'wait') {
      const attempt = reaction.do === 'retry' ? reaction.failedTries : this.#failedAttempts;
      const { dueAt, reason } = reaction;
      const { code, error_code, kind: error_kind } = error;
      const spends_retry = reaction.do === 'retry';
      const detail = { due_at: dueAt, reason, code, error_code, error_kind, spends_retry };
      return {
        move: { to: 'time', dueAt, attempt, error: { ...error } },
        event: this.#event('retry_scheduled', step, detail),
      };
    }
    const reason = reaction.do === 'fail' ? reaction.reason : failure.code;
    return {
      move: { to: 'failed', attempt: tries, error: { ...error } },
      event: this.#event('item_failed', step, {
        code: failure.code,
        source: error.context.url,
        message: error.message,
        reason,
      }),
    };
  }

  /** The process ends, or a workplace is full: back to the queue, and no attempt is charged. */
  async #handBack(bench?: StepService): Promise<Ending> {
    if (this.#signal.reason === ('lost' satisfies AbortReason)) return 'lost';
    const move = { to: 'turn', bench } as const;
    const verdict = await this.#report(move, { expect: this.#progress, events: [] });
    return verdict === 'applied' ? 'released' : 'lost';
  }

  #report(
    move: Move,
    report: Omit<Parameters<Ledger['report']>[0], 'lease' | 'move'>,
  ): ReturnType<Ledger['report']> {
    return this.#options.ledger.report({ lease: this.#lease, move, ...report });
  }

  #event(kind: NewEvent['kind'], step: string, detail?: Record<string, unknown>): NewEvent {
    return {
      kind,
      jobId: this.#lease.jobId,
      itemId: this.#lease.itemId,
      step,
      attempt: this.#failedAttempts + 1,
      worker: this.#lease.worker,
      detail,
    };
  }

  #tell(step: string, done: number, total: number): void {
    this.#options.onProgress?.(this.#event('step_progressed', step, { done, total }));
  }
}
