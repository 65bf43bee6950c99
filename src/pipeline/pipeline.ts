/**
 * A pipeline is a lifecycle plus one function for each of its steps. To add a step, add a row to
 * the table of steps and a function to the pipeline: see `docs/guide/extend.md`.
 */

import type { Failure } from '../kernel/failure/failure.ts';
import type { Lifecycle } from '../kernel/lifecycle/item.ts';
import type { StepService } from '../kernel/lifecycle/stage.ts';
import type { CorpusPlace } from '../kernel/name/corpus-name.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Reader, Transaction } from '../store/driver/database.ts';
import type { StepCounts } from '../store/item/reports.ts';
import type { CorpusEmbedders } from './corpus-origin.ts';
import type { Extractor } from './entity/extraction.ts';
import type { Parser } from './extract/parsed.ts';
import type { Fetcher } from './fetch/http/http.ts';
import type { Visitor } from './fetch/visit.ts';
import type { Bank } from './lane/bank.ts';

/** The document that a step works on. */
export interface PipelineItem {
  /** Also the id of the generation that this item makes. */
  readonly id: number;
  readonly jobId: number;
  /** The namespace and the corpus that the document belongs to. */
  readonly caller: string;
  readonly corpus: string;
  /** The caller who submitted it, with that caller's name for the corpus: it pays for the item. */
  readonly payer: CorpusPlace;
  readonly documentId: string;
  readonly sourceKind: string;
  readonly source: string;
  /** The domain whose crawl limits apply to the item, if any. */
  readonly gate: string | null;
  readonly force: boolean;
  /** Metadata that the submitter stated, as JSON. */
  readonly metadata?: string | null | undefined;
  readonly attempt: number;
}

export interface StepContext {
  readonly item: PipelineItem;
  readonly world: World;
  readonly reader: Reader;
  /** Aborts when the step times out, or when its item is canceled, paused or taken over. */
  readonly signal: AbortSignal;
  /** Results of earlier steps of the same run, in memory. Empty after a crash: read the store. */
  readonly scratch: Map<string, unknown>;
  /** Replace the tools that the step was built with, for this run only. */
  readonly tools?: StepTools | undefined;
  /** Reports the progress of a long step. */
  progress(done: number, total: number): void;
  /** Records model usage, so that the history of a failed step shows it. */
  readonly used?: ((use: ModelUse) => void) | undefined;
}

/** Tools that act for one step of one item: a remote worker has to know what it is asked for. */
export interface StepTools extends Partial<CorpusEmbedders> {
  readonly visitor?: Visitor;
  readonly fetcher?: Fetcher;
  readonly parser?: Parser;
  readonly extractor?: Extractor;
}

export interface ModelUse {
  readonly model: string;
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  /** Undefined if the price is not known. */
  readonly costCents?: number | undefined;
}

/** The part of the context that is known before a step runs. */
export type StepPlace = Pick<StepContext, 'item' | 'reader' | 'scratch'>;

/** The result of a step: values to record, and writes to apply in the same commit. */
export interface StepResult {
  /**
   * The step failed but has something to write: it is written with the retry or with the final
   * failure. A step without anything to write throws instead.
   */
  readonly failure?: Failure;
  /** Runs in the transaction that commits the step: exactly once, or not at all. */
  readonly effect?: (
    transaction: Transaction,
    now: number,
  ) => Promise<readonly NewEvent[] | undefined>;
  readonly model?: string;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly costCents?: number;
  readonly counts?: StepCounts;
  /** Recorded in the item's history, beside duration and cost. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /**
   * The work is left to a batch task. The item waits without a lease, and the step runs again when
   * the results are stored.
   */
  readonly deferred?: Deferral;
  /** The content equals the indexed one: the item is complete. */
  readonly unchanged?: boolean;
}

/**
 * Requests to a provider, to be sent in one batch with those of other items. An empty list: all
 * requests were sent before, and the item keeps waiting.
 */
export interface Deferral {
  readonly taskType: string;
  readonly model: string;
  readonly requests: readonly LaneRequest[];
  /** Runs in the transaction that stores the requests. */
  readonly effect?: ((transaction: Transaction) => Promise<void>) | undefined;
}

/** One request, with the key under which its result will be stored. */
export interface LaneRequest {
  readonly key: string;
  readonly [field: string]: unknown;
}

export type StepFunction = (context: StepContext) => Promise<StepResult | undefined>;

/** Step functions by the name of their step. */
export type Steps = Readonly<Record<string, StepFunction>>;

export interface Pipeline {
  readonly lifecycle: Lifecycle;
  readonly steps: Steps;
  /** The timeout of each step. */
  readonly timeoutMs: (step: string) => number;
  /**
   * Whether the step may run before the previous steps are committed to disk: it is free, reaches
   * nothing outside, and reads their results from `scratch`. No step may, if undefined.
   */
  readonly mayRunAhead?: ((step: string, item: PipelineItem) => boolean) | undefined;
  /** The service that does the work of a step; this process does all of it, if undefined. */
  readonly serviceOf?: ((step: string, place: StepPlace) => Promise<StepService>) | undefined;
  /** The same before the item is loaded, from its next steps. A wrong guess costs little. */
  readonly expected?: ((next: readonly string[], sourceKind: string) => StepService) | undefined;
  /** Batch results of canceled or failed items, by step: they are stored for later use. */
  readonly banks?: Readonly<Record<string, Bank>> | undefined;
}

/** The same steps, each with its function replaced. */
export function mapSteps(
  steps: Steps,
  change: (run: StepFunction, step: string) => StepFunction,
): Steps {
  return Object.fromEntries(
    Object.entries(steps).map(([step, run]): [string, StepFunction] => [step, change(run, step)]),
  );
}

/** Calls `onBegin` with the name of each step that starts. */
export function observed(pipeline: Pipeline, onBegin?: (name: string) => void): Pipeline {
  if (!onBegin) return pipeline;
  const steps = mapSteps(pipeline.steps, (run, step) => (context) => {
    onBegin(`step ${step}`);
    return run(context);
  });
  return { ...pipeline, steps };
}

/** Lets `build` change a pipeline. A replaced step does not inherit `mayRunAhead`. */
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
