/** Who does the work of steps, by the role of the process: itself, or services that are asked. */

import type { BlobStore } from '../blob/blob.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import { HandoffBroker, type HandoffBrokerOptions } from '../handoff/orchestrator/broker.ts';
import { handoffPipeline } from '../handoff/orchestrator/pipeline.ts';
import { payloadsBy } from '../handoff/payload.ts';
import type { QueueName } from '../handoff/request.ts';
import {
  checkAddress,
  embeddingWorks,
  type ScraperTools,
  scraperWorks,
  type Works,
} from '../handoff/worker/work.ts';
import type { Chunker } from '../pipeline/chunk/chunker.ts';
import { type DocumentPipelineOptions, documentPipeline } from '../pipeline/document.ts';
import { embedderOf } from '../pipeline/embed/embed.ts';
import { localExtractor } from '../pipeline/entity/local-extractor.ts';
import { modelExtractor } from '../pipeline/entity/model-extractor.ts';
import { placementOf } from '../pipeline/extract/process/placement.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { TextThreads } from '../pipeline/thread/text-threads.ts';
import type { Completer } from '../provider/completion/completion.ts';
import type { Queue } from '../queue/queue.ts';
import type { embeddersFor } from './adapter/models.ts';

export interface ServicesOptions {
  readonly queues: Readonly<Record<QueueName, Queue>>;
  /** Who cuts texts; it is given who would do so here. */
  readonly chunker: (here: Chunker) => Chunker;
}

export interface WorkParts {
  /** A blob store that all services reach, for what is too large for a message. */
  readonly blobs: BlobStore | undefined;
  readonly tools: DocumentPipelineOptions & { readonly chunker: Chunker };
  readonly completer: Completer | undefined;
  readonly broker: Pick<HandoffBrokerOptions, 'database' | 'world' | 'onError'>;
}

/** The pipeline, and where its questions go; nowhere, if this process does the work itself. */
export function documentsOf(
  services: ServicesOptions | undefined,
  { tools, completer, blobs, broker: parts }: WorkParts,
): { readonly documents: Pipeline; readonly broker: HandoffBroker | undefined } {
  if (!services) return { documents: documentPipeline(tools), broker: undefined };
  const { queues, chunker } = services;
  const payloads = payloadsBy(blobs);
  const broker = new HandoffBroker({ ...parts, queues, liveness: thisProcess(), payloads });
  const { embedder, otherEmbedder, parser, lane, paidAnswers } = tools;
  const documents = handoffPipeline({
    documents: documentPipeline({ ...tools, chunker: chunker(tools.chunker) }),
    broker,
    embedder,
    otherEmbedder,
    parser,
    isHere: (input) => placementOf(input).isHere,
    lane: paidAnswers && lane,
    modelExtractor: completer && ((remote) => modelExtractor(remote(completer), paidAnswers)),
  });
  return { documents, broker };
}

export interface ServiceTools extends ScraperTools {
  readonly embedders: ReturnType<typeof embeddersFor>;
  readonly completer: Completer | undefined;
  readonly texts: Pick<TextThreads, 'findEntities'>;
}

/** What this process can do for others. */
export function worksOf({ embedders, completer, texts, ...scraping }: ServiceTools): Works {
  return {
    ...scraperWorks(scraping),
    ...embeddingWorks({
      embedderOf: (model, url) => {
        const found = embedderOf(model, embedders, url);
        checkAddress(found, url);
        return found;
      },
      isConfigured: embedders.isConfigured,
      extractor: localExtractor(texts.findEntities),
      completer,
    }),
  };
}
