/**
 * A pipeline is a lifecycle and, for each of its steps, the function that does the step's work. To
 * add a step, add a row to the table of steps and a function here: see `docs/guide/extend.md`.
 */

import type { Failure } from '../kernel/failure/failure.ts';
import type { Lifecycle } from '../kernel/lifecycle/item.ts';
import type { StepService } from '../kernel/lifecycle/stage.ts';
import type { CorpusPlace } from '../kernel/name/corpus-name.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Reader, Transaction } from '../store/driver/database.ts';
import type { StepCounts } from '../store/item/reports.ts';
import type { Bank } from './lane/bank.ts';

/** The document that a step works on. */
export interface PipelineItem {
  /** Also the id of the generation that this item makes. */
  readonly id: number;
  readonly jobId: number;
  /** Where the document lives: the namespace, and the corpus in it. */
  readonly caller: string;
  readonly corpus: string;
  /** Who asked for it, and how they name the corpus: budgets and spending are theirs. */
  readonly payer: CorpusPlace;
  readonly documentId: string;
  readonly sourceKind: string;
  readonly source: string;
  /** The domain whose limits the item waits for, if it has one. */
  readonly gate: string | null;
  readonly force: boolean;
  readonly attempt: number;
}

export interface StepContext {
  readonly item: PipelineItem;
  readonly world: World;
  readonly reader: Reader;
  /** Aborts when the step runs out of time, or its item is canceled, paused or taken over. */
  readonly signal: AbortSignal;
  /**
   * What earlier steps of this same run left in memory. After a crash it is empty: read the store.
   */
  readonly scratch: Map<string, unknown>;
  /** Tells how far a long step has come. */
  progress(done: number, total: number): void;
  /** Tells which model a step asks, and what it has used of it: the history of a failure has it. */
  readonly used?: ((use: ModelUse) => void) | undefined;
}

export interface ModelUse {
  readonly model: string;
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  /** Undefined where nobody knows it. */
  readonly costCents?: number | undefined;
}

/** What is known of an item before one of its steps is run. */
export type StepPlace = Pick<StepContext, 'item' | 'reader' | 'scratch'>;

/** What a step hands back: values, and what to write with the click. */
export interface StepResult {
  /**
   * The step failed, and has something to write all the same: with the retry or with the end. One
   * that has nothing to write throws.
   */
  readonly failure?: Failure;
  /** Runs in the transaction of the click: it happens with it, exactly once, or not at all. */
  readonly effect?: (
    transaction: Transaction,
    now: number,
  ) => Promise<readonly NewEvent[] | undefined>;
  readonly model?: string;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly costCents?: number;
  readonly counts?: StepCounts;
  /** What the history should say of this step beside its duration and its cost. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /**
   * The step's work is left to a batch task: the item waits for it without a lease, and the step is
   * run again when the answers are there.
   */
  readonly deferred?: Deferral;
  /** Nothing is left to do for this item: its content is the one that is already indexed. */
  readonly unchanged?: boolean;
}

/**
 * What is to be asked of a provider, in one batch with what others ask. No requests: all is asked
 * already, and the item goes on waiting for it.
 */
export interface Deferral {
  readonly taskType: string;
  readonly model: string;
  readonly requests: readonly LaneRequest[];
  /** Runs in the transaction that hands the questions over. */
  readonly effect?: ((transaction: Transaction) => Promise<void>) | undefined;
}

/** One question, with the key under which its answer will be kept. */
export interface LaneRequest {
  readonly key: string;
  readonly [field: string]: unknown;
}

export type StepFunction = (context: StepContext) => Promise<StepResult | undefined>;

export interface Pipeline {
  readonly lifecycle: Lifecycle;
  readonly steps: Readonly<Record<string, StepFunction>>;
  /** How long each step may take. */
  readonly timeoutMs: (step: string) => number;
  /**
   * Whether the step may run while the clicks before it are still on their way to disk: it costs
   * nothing, reaches nothing outside, and takes what they write from `scratch`. None, where absent.
   */
  readonly mayRunAhead?: ((step: string, item: PipelineItem) => boolean) | undefined;
  /** Which service does the work of a step; this process does all of it, where absent. */
  readonly workplaceOf?: ((step: string, place: StepPlace) => Promise<StepService>) | undefined;
  /** The same for the next steps of an item that nobody has looked at: a guess costs little. */
  readonly expected?: ((next: readonly string[], sourceKind: string) => StepService) | undefined;
  /** For steps that are left to batch tasks: what keeps answers that no item comes for. */
  readonly banks?: Readonly<Record<string, Bank>> | undefined;
}

/** The same pipeline, which tells what begins. */
export function observed(pipeline: Pipeline, onBegin?: (name: string) => void): Pipeline {
  if (!onBegin) return pipeline;
  const steps = Object.entries(pipeline.steps).map(([name, run]): [string, StepFunction] => [
    name,
    (context) => {
      onBegin(`step ${name}`);
      return run(context);
    },
  ]);
  return { ...pipeline, steps: Object.fromEntries(steps) };
}

/** Another pipeline, made of one. Of a step that it replaces nobody knows that it may run ahead. */
export function rebuilt(from: Pipeline, build?: (from: Pipeline) => Pipeline): Pipeline {
  if (!build) return from;
  const pipeline = build(from);
  const { mayRunAhead, steps } = pipeline;
  if (mayRunAhead !== from.mayRunAhead) return pipeline;
  return {
    ...pipeline,
    mayRunAhead: (step, item) =>
      steps[step] === from.steps[step] && (mayRunAhead?.(step, item) ?? false),
  };
}
