/** The pipeline of a document: what does each step of `kernel/item.ts`. */
import type { BlobStore } from '../blob/blob.ts';
import { item } from '../kernel/item.ts';
import { limits } from '../kernel/limits.ts';
import type { Stage } from '../kernel/stage.ts';
import type { Embedder } from '../provider/embedding.ts';
import { chunkStep } from './chunk/chunk.ts';
import { embedStep } from './embed/embed.ts';
import { entityStep } from './entity/entity.ts';
import type { Extractor } from './entity/extraction.ts';
import { localExtractor } from './entity/local-extractor.ts';
import { extractStep } from './extract/extract.ts';
import type { Parser } from './extract/parsed.ts';
import { fetchStep } from './fetch/fetch.ts';
import type { Fetcher } from './fetch/http.ts';
import { indexStep, pruneStep } from './index/index-step.ts';
import {
  deferredEmbedStep,
  deferredEntityStep,
  type EmbeddingLaneOptions,
  type LaneModel,
  type LaneOptions,
} from './lane/deferred.ts';
import { persistStep } from './persist/persist.ts';
import type { Pipeline } from './pipeline.ts';

export interface DocumentPipelineOptions {
  readonly blobs: BlobStore;
  readonly embedder: Embedder;
  readonly fetcher: Fetcher;
  readonly parser: Parser;
  /** Rules and lists, where none is given. */
  readonly extractor?: Extractor | undefined;
  /** What the cheap lane leaves to batch tasks; nothing, where absent. */
  readonly lane?: DocumentLane | undefined;
}

export interface DocumentLane {
  readonly entities?: LaneModel | undefined;
  readonly embeddings?: (LaneModel & Omit<EmbeddingLaneOptions, keyof LaneOptions>) | undefined;
}

export function documentPipeline(options: DocumentPipelineOptions): Pipeline {
  const { blobs, embedder, fetcher, parser, extractor = localExtractor(), lane = {} } = options;
  const embed = embedStep(embedder);
  const entity = entityStep(extractor);
  const { entities, embeddings } = lane;
  return {
    lifecycle: item,
    steps: {
      fetched: fetchStep(blobs, fetcher),
      content_extracted: extractStep(blobs, parser),
      chunked: chunkStep,
      embedded: embeddings
        ? deferredEmbedStep({ ...embeddings, lane: embeddings, blobs, normal: embed })
        : embed,
      entity_extracted: entities
        ? deferredEntityStep({ lane: entities, blobs, normal: entity })
        : entity,
      persisted: persistStep,
      indexed: indexStep,
      done: pruneStep,
    },
    timeoutMs: (step) =>
      step === 'content_extracted' ? limits.step.extractMs : limits.step.workerMs[stageOf(step)],
  };
}

/** A step that was added to these is given the time of the last stage. */
function stageOf(step: string): Stage {
  return item.steps.find((row) => row.step === step)?.stage ?? 'embedding';
}
