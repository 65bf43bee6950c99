/** The pipeline of a document: what does each step of `kernel/lifecycle/item.ts`. */
import type { BlobStore } from '../blob/blob.ts';
import { item } from '../kernel/lifecycle/item.ts';
import type { Stage } from '../kernel/lifecycle/stage.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { Sink } from '../sink/sink.ts';
import { chunkStep, withChunker } from './chunk/chunk.ts';
import type { Chunker } from './chunk/chunker.ts';
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
import type { Visitor } from './fetch/visit.ts';
import { indexStep, pruneStep } from './index/index-step.ts';
import {
  deferredEmbedStep,
  deferredEntityStep,
  type EmbeddingLaneOptions,
  type LaneModel,
  type LaneOptions,
} from './lane/deferred.ts';
import { type RecordingLane, recordingStep } from './lane/recording.ts';
import { persistStep } from './persist/persist.ts';
import type { Pipeline, StepContext, StepFunction } from './pipeline.ts';

export interface DocumentPipelineOptions extends EmbedOptions {
  readonly blobs: BlobStore;
  readonly fetcher: Fetcher;
  readonly rendering?: Rendering | undefined;
  /** Who reads pages; this process, where nothing is said. */
  readonly visitor?: Visitor | undefined;
  /** Who cuts texts; this process, where nothing is said. */
  readonly chunker?: Chunker | undefined;
  /** Who looks for the links of a crawl; this thread, where nothing is said. */
  readonly finder?: LinkFinder | undefined;
  readonly paces?: Paces | undefined;
  readonly parser: Parser;
  /** Rules and lists, where none is given. */
  readonly extractor?: Extractor | undefined;
  /** What the cheap lane leaves to batch tasks; nothing, where absent. */
  readonly lane?: DocumentLane | undefined;
  /** Where generations are delivered to beside the store. */
  readonly sinks?: readonly Sink[] | undefined;
}

export interface DocumentLane {
  readonly entities?: LaneModel | undefined;
  /** Absent: nobody transcribes. */
  readonly recordings?: RecordingLane | undefined;
  readonly embeddings?: (LaneModel & Omit<EmbeddingLaneOptions, keyof LaneOptions>) | undefined;
}

export function documentPipeline(options: DocumentPipelineOptions): Pipeline {
  const { blobs, parser, chunker, extractor = localExtractor(), sinks, paidAnswers } = options;
  const embed = embedStep(options);
  const entity = entityStep(extractor);
  // What a batch answers is kept like all that was paid for: no lane without a purse.
  const { entities, embeddings, recordings } = (paidAnswers && options.lane) ?? {};
  const lane = paidAnswers && { blobs, paidAnswers };
  const extract = extractStep(blobs, parser);
  const hasTranscribers = recordings !== undefined;
  const left = lane && {
    content_extracted:
      recordings && recordingStep({ ...recordings, ...lane, parser, normal: extract }),
    embedded:
      embeddings && deferredEmbedStep({ ...embeddings, ...lane, lane: embeddings, normal: embed }),
    entity_extracted: entities && deferredEntityStep({ ...lane, lane: entities, normal: entity }),
  };
  return {
    lifecycle: item,
    steps: {
      fetched: either(fetchStep({ ...options, hasTranscribers })),
      content_extracted: either(left?.content_extracted?.run ?? extract),
      chunked: either(withChunker(chunkStep, chunker)),
      embedded: either(
        withChunker(left?.embedded?.run ?? embed, chunker),
        reembedStep(options, sinks),
      ),
      entity_extracted: either(withChunker(left?.entity_extracted?.run ?? entity, chunker)),
      persisted: either(persistStep(sinks)),
      indexed: either(indexStep(options, sinks)),
      done: either(pruneStep(sinks)),
    },
    timeoutMs: (step) =>
      step === 'content_extracted' ? limits.step.extractMs : limits.step.workerMs[stageOf(step)],
    mayRunAhead: runningAhead({ ...options, extractor }),
    banks: Object.fromEntries(
      Object.entries(left ?? {}).flatMap(([step, own]) => (own ? [[step, own.bank]] : [])),
    ),
  };
}

/** What costs money, waits for others, or tells others, does so only from what is on disk. */
function runningAhead({
  embedder,
  extractor,
  lane,
  sinks = [],
}: DocumentPipelineOptions): Pipeline['mayRunAhead'] {
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

/** Tools that know for which item, and for which of its steps, they are used. */
export type BindTools = (context: StepContext, step: string) => Partial<DocumentPipelineOptions>;

/** The same pipeline, with tools that are made anew for each step of each item. */
export function boundPipeline(options: DocumentPipelineOptions, bind: BindTools): Pipeline {
  const whole = documentPipeline(options);
  const bound = (step: string): StepFunction => {
    return async (context) => {
      const tools = { ...options, ...bind(context, step) };
      return documentPipeline(tools).steps[step]?.(context);
    };
  };
  const steps = Object.keys(whole.steps).map((step) => [step, bound(step)] as const);
  return { ...whole, steps: Object.fromEntries(steps), mayRunAhead: undefined };
}

/** An item that embeds a document anew leaves everything else of it as it is. */
function either(documents: StepFunction, anew?: StepFunction): StepFunction {
  return async (context) =>
    context.item.sourceKind === 'reembed' ? anew?.(context) : documents(context);
}

/** A step that was added to these is given the time of the last stage. */
function stageOf(step: string): Stage {
  return item.steps.find((row) => row.step === step)?.stage ?? 'embedding';
}
