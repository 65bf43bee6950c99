/** The pipeline of documents: one function for each step of `kernel/lifecycle/item.ts`. */
import type { BlobStore } from '../blob/blob.ts';
import { item } from '../kernel/lifecycle/item.ts';
import type { Stage } from '../kernel/lifecycle/stage.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Sink } from '../sink/sink.ts';
import { chunkStep } from './chunk/chunk.ts';
import { copyTextStep } from './chunk/rechunk.ts';
import type { LinkFinder } from './crawl/page-links.ts';
import { type EmbedOptions, embedStep } from './embed/embed.ts';
import { reembedStep } from './embed/reembed.ts';
import { entityStep } from './entity/entity.ts';
import type { Extractor } from './entity/extraction.ts';
import { localExtractor } from './entity/local-extractor.ts';
import { extractStep } from './extract/extract.ts';
import type { Parser } from './extract/parsed.ts';
import type { Rendering } from './fetch/browser/visible-page.ts';
import { fetchStep } from './fetch/fetch.ts';
import type { Fetcher } from './fetch/http/http.ts';
import type { Paces } from './fetch/robots/politeness.ts';
import { indexStep, pruneStep } from './index/index-step.ts';
import type { LaneStep } from './lane/bank.ts';
import {
  deferredEmbedStep,
  deferredEntityStep,
  type EmbeddingLaneOptions,
  type LaneModel,
  type LaneOptions,
} from './lane/deferred.ts';
import { type RecordingLane, recordingStep } from './lane/recording.ts';
import { persistStep } from './persist/persist.ts';
import { mapSteps, type Pipeline, type StepFunction, type Steps } from './pipeline.ts';

export interface DocumentPipelineOptions extends EmbedOptions {
  readonly blobs: BlobStore;
  readonly fetcher: Fetcher;
  readonly rendering?: Rendering | undefined;
  /** Finds the links of a crawl; this thread does, if undefined. */
  readonly finder?: LinkFinder | undefined;
  readonly paces?: Paces | undefined;
  readonly parser: Parser;
  /** Rules and lists, if undefined. */
  readonly extractor?: Extractor | undefined;
  /** The work that the batch lane leaves to batch tasks; none, if undefined. */
  readonly lane?: DocumentLane | undefined;
  /** Where generations are delivered to, beside the store. */
  readonly sinks?: readonly Sink[] | undefined;
}

export interface DocumentLane {
  readonly entities?: LaneModel | undefined;
  /** Undefined if no provider transcribes. */
  readonly recordings?: RecordingLane | undefined;
  readonly embeddings?: (LaneModel & Omit<EmbeddingLaneOptions, keyof LaneOptions>) | undefined;
}

export function documentPipeline(options: DocumentPipelineOptions): Pipeline {
  const { blobs, parser, chunker, extractor = localExtractor(), sinks } = options;
  const live = {
    fetched: fetchStep({ ...options, hasTranscribers: laneOf(options).recordings !== undefined }),
    content_extracted: extractStep(blobs, parser),
    chunked: chunkStep(chunker),
    embedded: embedStep(options),
    entity_extracted: entityStep(extractor, chunker),
    persisted: persistStep(sinks),
    indexed: indexStep(options, sinks),
    done: pruneStep(sinks),
  };
  const reembed = reembedStep(options, sinks);
  const batch = batchSteps(options, live);
  const steps = mapSteps(live, (run, step) => batch[step]?.run ?? run);
  return {
    lifecycle: item,
    steps: withStored(steps, {
      reembed: mapSteps(steps, (_, step) => (step === 'embedded' ? reembed : nothing)),
      rechunk: { ...steps, fetched: nothing, content_extracted: copyTextStep },
    }),
    timeoutMs,
    mayRunAhead: runningAhead({ ...options, extractor }),
    banks: Object.fromEntries(Object.entries(batch).map(([step, { bank }]) => [step, bank])),
  };
}

/** Batch results are stored as paid answers: without a store for them there is no batch lane. */
function laneOf({ lane, paidAnswers }: DocumentPipelineOptions): DocumentLane {
  return (paidAnswers && lane) ?? {};
}

/** The batch lane replaces these steps; jobs of the live lane still run the functions in `live`. */
function batchSteps(
  options: DocumentPipelineOptions,
  live: Readonly<Record<'content_extracted' | 'embedded' | 'entity_extracted', StepFunction>>,
): Readonly<Record<string, LaneStep>> {
  const { blobs, parser, chunker, paidAnswers } = options;
  const { recordings, embeddings, entities } = laneOf(options);
  const steps: Record<string, LaneStep> = {};
  if (!paidAnswers) return steps;
  const tools = { blobs, paidAnswers, chunker };
  if (recordings) {
    const normal = live.content_extracted;
    steps.content_extracted = recordingStep({ ...recordings, ...tools, parser, normal });
  }
  if (embeddings) {
    const normal = live.embedded;
    steps.embedded = deferredEmbedStep({ ...embeddings, ...tools, lane: embeddings, normal });
  }
  if (entities) {
    const normal = live.entity_extracted;
    steps.entity_extracted = deferredEntityStep({ ...tools, lane: entities, normal });
  }
  return steps;
}

const nothing: StepFunction = async () => undefined;

/** Items that work on the stored text of a document run a pipeline of their own. */
function withStored(documents: Steps, stored: Readonly<Record<string, Steps>>): Steps {
  return mapSteps(
    documents,
    (run, step) => async (context) => (stored[context.item.sourceKind]?.[step] ?? run)(context),
  );
}

/** Steps that cost money, wait for others or deliver to others start from committed data only. */
function runningAhead(options: DocumentPipelineOptions): Pipeline['mayRunAhead'] {
  const { embedder, extractor, lane, sinks = [] } = options;
  const isFree: Readonly<Record<string, boolean>> = {
    content_extracted: !lane?.recordings,
    chunked: true,
    embedded: !embedder.meter && !lane?.embeddings,
    entity_extracted: extractor?.model === undefined && !lane?.entities,
    persisted: sinks.length === 0,
    indexed: sinks.length === 0 && !embedder.meter,
    done: sinks.length === 0,
  };
  return (step, { sourceKind }) => sourceKind !== 'reembed' && (isFree[step] ?? false);
}

function timeoutMs(step: string): number {
  return step === 'content_extracted' ? limits.step.extractMs : limits.step.workerMs[stageOf(step)];
}

/** Steps that were added to the lifecycle get the timeout of the last stage. */
function stageOf(step: string): Stage {
  return item.steps.find((row) => row.step === step)?.stage ?? 'embedding';
}
