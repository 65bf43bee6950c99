/** Steps that are done by services in other processes, and the work that this process offers. */

import { thisProcess } from '../engine/item/liveness.ts';
import { HandoffBroker } from '../handoff/orchestrator/broker.ts';
import { handoffPipeline } from '../handoff/orchestrator/pipeline.ts';
import { payloadsBy } from '../handoff/payload.ts';
import type { QueueName } from '../handoff/request.ts';
import { checkAddress, embeddingWorks, scraperWorks, type Works } from '../handoff/worker/work.ts';
import type { World } from '../kernel/world.ts';
import type { Chunker } from '../pipeline/chunk/chunker.ts';
import { type DocumentPipelineOptions, documentPipeline } from '../pipeline/document.ts';
import { embedderOf } from '../pipeline/embed/embed.ts';
import { localExtractor } from '../pipeline/entity/local-extractor.ts';
import { modelExtractor } from '../pipeline/entity/model-extractor.ts';
import { placementOf } from '../pipeline/extract/process/placement.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Completer } from '../provider/completion/completion.ts';
import type { Queue } from '../queue/queue.ts';
import type { Database } from '../store/driver/database.ts';
import type { OpenBlobs } from './adapter/blobs.ts';
import type { Tools } from './tools.ts';

export interface ServicesOptions {
  readonly queues: Readonly<Record<QueueName, Queue>>;
  /** The remote chunker; it gets the local one as a fallback. */
  readonly chunker: (here: Chunker) => Chunker;
}

interface BrokerParts {
  readonly database: Database;
  /** A blob store that all services reach, for payloads too large for a message. */
  readonly blobs: OpenBlobs | undefined;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

export function openBroker(
  { queues }: ServicesOptions,
  { database, blobs, world, onError }: BrokerParts,
): HandoffBroker {
  const payloads = payloadsBy(blobs);
  const liveness = thisProcess();
  return new HandoffBroker({ database, world, onError, queues, liveness, payloads });
}

interface RemoteParts {
  readonly broker: HandoffBroker;
  readonly steps: DocumentPipelineOptions & { readonly chunker: Chunker };
  readonly completer: Completer | undefined;
}

/** The pipeline of documents, with the work of its steps done by services. */
export function remotePipeline(
  services: ServicesOptions,
  { broker, steps, completer }: RemoteParts,
): Pipeline {
  const { embedder, otherEmbedder, parser, lane, paidAnswers } = steps;
  return handoffPipeline({
    documents: documentPipeline({ ...steps, chunker: services.chunker(steps.chunker) }),
    broker,
    embedder,
    otherEmbedder,
    parser,
    isHere: (input) => placementOf(input).isHere,
    lane: paidAnswers && lane,
    modelExtractor: completer && ((remote) => modelExtractor(remote(completer), paidAnswers)),
  });
}

/** The work that this process can do for other processes. */
export function worksOf(tools: Tools, world: World): Works {
  const { fetcher, rendering, parser, embedders, completer, texts } = tools;
  const scraping = scraperWorks({ fetcher, rendering, parser: parser.parse, world });
  const embedding = embeddingWorks({
    embedderOf: (model, url) => {
      const found = embedderOf(model, embedders, url);
      checkAddress(found, url);
      return found;
    },
    isConfigured: embedders.isConfigured,
    extractor: localExtractor(texts.findEntities),
    completer,
  });
  return { ...scraping, ...embedding };
}
