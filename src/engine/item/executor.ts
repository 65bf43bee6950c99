/**
 * One run of one item: run every step that can run, report each outcome, and repeat until the item
 * ends, waits, or its lease is lost. Nothing here writes: every outcome goes to the ledger, and
 * only an applied report lets the item continue. Free local steps may run ahead of the commits
 * before them (docs/decisions/0063). Their results are reported in order, and count only if all
 * earlier reports are applied.
 */

import { Failure, pauseReasons, toFailure } from '../../kernel/failure/failure.ts';
import type { Lifecycle, Progress } from '../../kernel/lifecycle/item.ts';
import type { StepService } from '../../kernel/lifecycle/stage.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { strongest } from '../../kernel/reaction.ts';
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
import { decide, type FailedStepContext, reactTo } from './failed-step.ts';
import { type Ledger, leaseOf } from './ledger.ts';
import {
  addUse,
  type DeferredStep,
  detailOf,
  effectOf,
  type FailedStep,
  failedDetail,
  outcomesOf,
  type StepOutcome,
} from './step-outcome.ts';
import { takeWorkerSlot, type WorkerSlot } from './worker-slot.ts';

export type { WorkerSlot } from './worker-slot.ts';

export interface ExecutorOptions {
  readonly ledger: Ledger;
  readonly pipeline: Pipeline;
  readonly world: World;
  /** The clock of the store, which decides what is due. */
  readonly now: () => number;
  readonly reader: Reader;
  /** The concurrency slot of the item; undefined: it needs none. */
  readonly slot?: WorkerSlot | undefined;
  /** Pauses the job because its budget is used up. False: the budget was raised meanwhile. */
  readonly pauseJob?: (jobId: number, failure: Failure) => Promise<boolean>;
  /** Reports the progress inside a step. It is not stored. */
  readonly onProgress?: (event: NewEvent) => void;
}

/** How the run of an item ended. */
export type Ending = 'ended' | 'waiting' | 'released' | 'lost';

/** Runs the item until it ends, waits or is lost. Aborting `signal` hands it back to the queue. */
export function runItem(
  row: ClaimedRow,
  worker: string,
  signal: AbortSignal,
  options: ExecutorOptions,
): Promise<Ending> {
  return new ItemRun(row, worker, signal, options).run();
}

/** Why a running item is aborted: its lease is gone, or the process ends. */
export type AbortReason = 'lost' | 'shutdown';

class ItemRun {
  readonly #options: ExecutorOptions;
  readonly #lifecycle: Lifecycle;
  readonly #lease: Lease;
  readonly #item: PipelineItem;
  readonly #signal: AbortSignal;
  readonly #scratch = new Map<string, unknown>();
  /** Model usage of the last run of each step. */
  readonly #uses = new Map<string, ModelUse>();
  readonly #aborts = new Set<(reason: unknown) => void>();
  /** Reports that are not on disk yet, while later steps run ahead of them. */
  #pendingReports: Promise<StepOutcome>[] = [];
  /** A step that kills its worker must be identified: after a crash no step runs ahead. */
  readonly #crashes: number;
  /** The progress once all pending reports are applied, and the progress that is on disk. */
  #progress: Progress;
  #stored: Progress;
  #failedTries: number;

  constructor(row: ClaimedRow, worker: string, signal: AbortSignal, options: ExecutorOptions) {
    this.#options = options;
    this.#lifecycle = options.pipeline.lifecycle;
    this.#lease = leaseOf(row, worker);
    this.#signal = signal;
    this.#crashes = row.crashes;
    this.#progress = row.progress;
    this.#stored = row.progress;
    this.#failedTries = row.attempt;
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
      metadata: row.metadata,
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

  /** The outcomes of the pending reports. */
  #reported(): Promise<StepOutcome[]> {
    const pending = this.#pendingReports;
    this.#pendingReports = [];
    return outcomesOf(pending);
  }

  /** How the run ends; undefined: all reports are on disk, and it continues. */
  async #conclude(outcomes: readonly StepOutcome[]): Promise<Ending | undefined> {
    const isUndone = outcomes.some((outcome) => outcome.kind === 'failed' && outcome.isEffect);
    if (isUndone) this.#progress = this.#stored;
    else if (outcomes.some(({ kind }) => kind === 'lost')) return 'lost';
    const ready = this.#lifecycle.ready(this.#progress);
    if (ready.length === 0) return 'ended';
    if (this.#signal.aborted) return this.#handBack();
    // A failure counts only if its step is still ready: an earlier report may have been refused.
    const failed = outcomes
      .filter((outcome) => outcome.kind === 'failed')
      .filter(({ step }) => ready.includes(step));
    if (failed.length > 0) return (await this.#pauseJob(failed)) ?? this.#settle(failed);
    const deferred = outcomes.filter((outcome) => outcome.kind === 'deferred');
    if (deferred.length > 0) return this.#defer(deferred);
    // A suspect that has committed a step is cleared: it returns to the queue, beside others.
    return isSuspect(this.#crashes) ? this.#handBack() : undefined;
  }

  /** With its budget used up, the job waits for a person, and none of its items fails. */
  async #pauseJob(failed: readonly FailedStep[]) {
    const broke = failed.find(({ failure }) => pauseReasons[failure.code] !== undefined);
    const { pauseJob } = this.#options;
    if (!broke || !pauseJob) return undefined;
    return (await pauseJob(this.#lease.jobId, broke.failure)) ? 'lost' : this.#handBack();
  }

  /** Branches run concurrently. Each commits when it is done, independent of its siblings. */
  #runParallelSteps(steps: readonly string[]): Promise<StepOutcome[]> {
    return outcomesOf(steps.map((step) => this.#runStep(step)));
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
    // It may reject before it is awaited.
    report.catch(() => undefined);
    this.#pendingReports.push(report);
    return { kind: 'ok', step };
  }

  /** Stores the requests for batch tasks in the transaction that releases the lease. */
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

  /** Calls the step with a deadline. If it ignores its signal, the executor stops waiting. */
  #callStep(step: string): Promise<StepResult | undefined> {
    const { pipeline, world, reader } = this.#options;
    const run = pipeline.steps[step];
    if (!run)
      throw new Failure('internal_error', `the pipeline has no function for the step ${step}`);
    const timeoutMs = pipeline.timeoutMs(step);
    this.#uses.delete(step);
    return new Promise((resolve, reject) => {
      const controller = new AbortController();
      const ending =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          cancel();
          this.#aborts.delete(abort);
          settle(value);
        };
      const abort = ending((reason: unknown) => {
        controller.abort(reason);
        reject(reason);
      });
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
      (async () => run(context))().then(ending(resolve), ending(reject));
    });
  }

  async #complete(step: string, result: StepResult, ms: number): Promise<StepOutcome> {
    const expect = this.#progress;
    const before = this.#lifecycle.ready(expect);
    const progress = result.unchanged
      ? this.#lifecycle.complete
      : this.#lifecycle.reach(expect, step);
    // Set before the commit: the report of a sibling must expect the progress after this one.
    this.#progress = progress;
    const completed = this.#event('step_completed', step, detailOf(result, ms));
    const failedBefore = this.#failedTries;
    this.#failedTries = 0;
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
      this.#failedTries = failedBefore;
      return { kind: 'failed', step, failure: toFailure(verdict.cause), ms, isEffect: true };
    }
    if (verdict === 'applied') this.#stored |= progress;
    return { kind: verdict === 'applied' ? 'ok' : 'lost', step };
  }

  /** Some branches failed: the strongest reaction decides, and its reason is in the history. */
  async #settle(failed: readonly FailedStep[]): Promise<Ending> {
    const reactions = failed.map((outcome) => {
      const context = this.#failedStepContext(outcome);
      return { outcome, context, reaction: reactTo(outcome, context) };
    });
    const reaction = strongest(reactions.map((each) => each.reaction));
    const decisive = reactions.find((each) => each.reaction === reaction) ?? reactions[0];
    if (!decisive) throw new Failure('internal_error', 'no step failed, and no step is ready');
    const { move, kind, detail } = decide(reaction, decisive.outcome, decisive.context);
    const report = {
      expect: this.#progress,
      events: [
        ...failed.map((outcome) =>
          this.#event('step_failed', outcome.step, this.#detailOf(outcome)),
        ),
        this.#event(kind, decisive.outcome.step, detail),
      ],
    };
    const results = failed.map(({ result }) => result);
    const effect = effectOf(results, this.#options.now);
    const verdict = await this.#report(move, { ...report, effect }).catch((error: unknown) => {
      if (!(error instanceof EffectError)) throw error;
      // The failure must be recorded even if the step's own writes were refused.
      return this.#report(move, report);
    });
    if (verdict !== 'applied') return 'lost';
    return move.to === 'failed' ? 'ended' : 'waiting';
  }

  #detailOf(outcome: FailedStep): Record<string, unknown> {
    return failedDetail(outcome, { source: this.#item.source, use: this.#uses.get(outcome.step) });
  }

  #failedStepContext({ step }: FailedStep): FailedStepContext {
    return {
      stage: this.#lifecycle.row(step).stage,
      failedTries: this.#failedTries,
      worker: this.#lease.worker,
      source: this.#item.source,
      now: this.#options.now(),
      world: this.#options.world,
    };
  }

  /** The process ends, or a service is full: back to the queue, without counting a try. */
  async #handBack(service?: StepService): Promise<Ending> {
    if (this.#signal.reason === ('lost' satisfies AbortReason)) return 'lost';
    const move = { to: 'turn', service } as const;
    const verdict = await this.#report(move, { expect: this.#progress, events: [] });
    return verdict === 'applied' ? 'released' : 'lost';
  }

  #report(
    move: Move,
    report: Omit<Parameters<Ledger['report']>[0], 'lease' | 'move'>,
  ): ReturnType<Ledger['report']> {
    return this.#options.ledger.report({ lease: this.#lease, move, ...report });
  }

  #event(
    kind: NewEvent['kind'],
    step: string,
    detail?: Readonly<Record<string, unknown>>,
  ): NewEvent {
    return {
      kind,
      jobId: this.#lease.jobId,
      itemId: this.#lease.itemId,
      step,
      attempt: this.#failedTries + 1,
      worker: this.#lease.worker,
      detail,
    };
  }

  #tell(step: string, done: number, total: number): void {
    this.#options.onProgress?.(this.#event('step_progressed', step, { done, total }));
  }
}
