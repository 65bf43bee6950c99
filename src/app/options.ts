/**
 * The options of a Pawl process. The settings table, the library and the composition root use these
 * names; nothing is renamed on the way.
 */
import type { SourceKind } from '../engine/sync/source-kind.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Log } from '../observe/log.ts';
import type { ModelCall } from '../observe/trace.ts';
import type { RenderWhen } from '../pipeline/fetch/browser/render.ts';
import type { Paces } from '../pipeline/fetch/robots/politeness.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { BlobStorePort } from '../port/blob-store.ts';
import type { EmbedderPort } from '../port/embedder.ts';
import type { EntityExtractorPort } from '../port/entity-extractor.ts';
import type { RerankerPort } from '../port/reranker.ts';
import type { SinkPort } from '../port/sink.ts';
import type { StepPort } from '../port/step.ts';
import type { BatchProvider } from '../provider/batch/batch-provider.ts';
import type { BucketKeys } from '../source/kind/bucket.ts';
import type { ProviderSettings } from './adapter/batch-providers.ts';
import type { BlobSettings } from './adapter/blobs.ts';
import type { AnswererOptions, EmbedderSettings, ExtractorOptions } from './adapter/models.ts';
import type { RerankerSettings } from './adapter/reranker.ts';
import type { SinkSettings } from './adapter/sinks.ts';
import type { ServicesOptions } from './step-services.ts';

export interface PawlOptions {
  /** The folder of the store; `.pawl` by default. */
  readonly data?: string | undefined;
  /** The address of a Postgres database, instead of the embedded one. */
  readonly database?: string | undefined;
  /** How many documents are processed concurrently. */
  readonly workers?: number | undefined;
  /** Exact `host:port` pairs that may be fetched although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  /** Turns text into vectors: settings, or an embedder of your own; a local model by default. */
  readonly embedder?: EmbedderSettings | EmbedderPort | undefined;
  /**
   * Finds entities: a model behind an OpenAI-compatible API, or an extractor of your own; rules by
   * default.
   */
  readonly extractor?: ExtractorOptions | EntityExtractorPort | undefined;
  /**
   * Orders the first passages of each search: an endpoint, or a reranker of your own; the fused
   * order by default.
   */
  readonly reranker?: RerankerSettings | RerankerPort | undefined;
  /** Answers questions: a model behind an OpenAI-compatible chat API; none by default. */
  readonly answerer?: AnswererOptions | undefined;
  /** `off`, `auto`, or the path of a Chromium that renders pages which need their scripts. */
  readonly browser?: string | undefined;
  /** Which pages are rendered: those where it is `needed` (default), or `always`. */
  readonly render?: RenderWhen | undefined;
  /** Crawl limits of single domains: concurrency, and delay in milliseconds. */
  readonly pace?: Paces | undefined;
  /** Batch providers, which take hours and cost less: the entries of `PAWL_BATCH_PROVIDERS`. */
  readonly batchProviders?: ProviderSettings | undefined;
  /** Batch providers that are not built in: see `docs/guide/extend.md`. */
  readonly batchAdapters?: readonly BatchProvider[] | undefined;
  readonly batchPollMs?: number | undefined;
  /** Kinds of sources that are not built in: see `docs/guide/extend.md`. */
  readonly sourceKinds?: readonly SourceKind[] | undefined;
  /** The key for buckets that corpora follow. */
  readonly bucketKeys?: BucketKeys | undefined;
  /** How long the batch lane collects requests before it makes a task of them. */
  readonly batchGatherMs?: number | undefined;
  /** Where fetched bytes are stored: settings, or a store of your own; a folder by default. */
  readonly blobs?: BlobSettings | BlobStorePort | undefined;
  /** Copies of vectors in Qdrant (which then answers searches) and of entities in Neo4j. */
  readonly sinks?: SinkSettings | undefined;
  /** Sinks that are not built in. */
  readonly sinkAdapters?: readonly SinkPort[] | undefined;
  /** `auto` (default): Postgres searches vectors if it has pgvector. Or `off`. */
  readonly pgvector?: 'auto' | 'off' | undefined;
  /**
   * Called when background work failed and will be retried. During an outage of the store or of
   * another service that all documents need, it is called once.
   */
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** Called every five minutes during such an outage, and when it ends. */
  readonly onOutage?: ((message: string) => void) | undefined;
  readonly world?: World | undefined;
  /** Steps that are added, replaced or wrapped. */
  readonly steps?: readonly StepPort[] | undefined;
  /** Changes the pipeline itself, for tests inside this repository. */
  readonly pipeline?: ((documents: Pipeline) => Pipeline) | undefined;
}

/** The names above, at run time: `open` refuses any other. */
export const optionNames = {
  data: true,
  database: true,
  workers: true,
  allowHosts: true,
  embedder: true,
  extractor: true,
  browser: true,
  render: true,
  pace: true,
  batchProviders: true,
  batchAdapters: true,
  batchPollMs: true,
  batchGatherMs: true,
  blobs: true,
  sinks: true,
  pgvector: true,
  onError: true,
  onOutage: true,
  world: true,
  pipeline: true,
  sourceKinds: true,
  bucketKeys: true,
  reranker: true,
  answerer: true,
  sinkAdapters: true,
  steps: true,
} satisfies Readonly<Record<keyof PawlOptions, true>>;

/** Options that only the roles of a service and the tests set. */
export interface AssembleOptions extends PawlOptions {
  /** How long a batch task is leased without a heartbeat of its process. */
  readonly batchHoldMs?: number | undefined;
  /** The log of interactive imports; none by default. */
  readonly attemptLog?: Log | undefined;
  /** Called with the name of each step that starts, for the event-loop watch. */
  readonly onBegin?: ((name: string) => void) | undefined;
  /** Called for each call of a model. */
  readonly onCall?: ((call: ModelCall) => void) | undefined;
  /** Called with the progress of long steps. */
  readonly onProgress?: ((event: NewEvent) => void) | undefined;
  /** Services in other processes that do the work of steps. */
  readonly services?: ServicesOptions | undefined;
}
