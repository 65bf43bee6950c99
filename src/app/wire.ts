/** The composition root: the only file that names adapters. */
import { join, resolve } from 'node:path';
import { type AccessOptions, type OpenAccess, openAccess } from '../access/access.ts';
import { CorpusDirectory } from '../access/corpus-directory.ts';
import type { AttemptSession } from '../attempt/session.ts';
import type { BlobStore, StreamedBlobStore } from '../blob/blob.ts';
import { BatchProviders } from '../engine/batch/plan.ts';
import { BatchRunner, type RunnerOptions } from '../engine/batch/runner.ts';
import type { ConfiguredOrigins } from '../engine/command/origins.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import type { HandoffBroker } from '../handoff/orchestrator/broker.ts';
import type { Works } from '../handoff/worker/work.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { Lifecycle } from '../kernel/lifecycle/item.ts';
import { limits } from '../kernel/limits/limits.ts';
import { placeOf } from '../kernel/name/corpus-name.ts';
import { embedUse, type Origin } from '../kernel/name/origin.ts';
import type { World } from '../kernel/world.ts';
import type { NewEvent } from '../observe/event.ts';
import type { Log } from '../observe/log.ts';
import type { ModelCall } from '../observe/trace.ts';
import type { Chunker } from '../pipeline/chunk/chunker.ts';
import {
  type DocumentLane,
  type DocumentPipelineOptions,
  documentPipeline,
} from '../pipeline/document.ts';
import type { Extractor } from '../pipeline/entity/extraction.ts';
import { localExtractor } from '../pipeline/entity/local-extractor.ts';
import { modelExtractor } from '../pipeline/entity/model-extractor.ts';
import {
  type Estimate,
  type EstimateInput,
  estimateIngestion,
} from '../pipeline/estimate/estimate.ts';
import { processParser } from '../pipeline/extract/process/process-parser.ts';
import { allowedHosts } from '../pipeline/fetch/address.ts';
import { ChromiumRenderer } from '../pipeline/fetch/browser/browser.ts';
import { findBrowser } from '../pipeline/fetch/browser/launch.ts';
import type { RenderWhen } from '../pipeline/fetch/browser/render.ts';
import type { Rendering } from '../pipeline/fetch/browser/visible-page.ts';
import { type Fetcher, httpFetcher } from '../pipeline/fetch/http/http.ts';
import { httpPost, type Post } from '../pipeline/fetch/http/post.ts';
import { checkTarget } from '../pipeline/fetch/http/resolve.ts';
import type { Paces } from '../pipeline/fetch/robots/politeness.ts';
import { readUrl } from '../pipeline/fetch/url.ts';
import type { LaneModel } from '../pipeline/lane/deferred.ts';
import { PaidAnswers } from '../pipeline/paid-answers.ts';
import { observed, type Pipeline, rebuilt } from '../pipeline/pipeline.ts';
import { Preview } from '../pipeline/preview.ts';
import { TextThreads } from '../pipeline/thread/text-threads.ts';
import type { BatchProvider } from '../provider/batch/batch-provider.ts';
import type { Completer } from '../provider/completion/completion.ts';
import type { Embedder } from '../provider/embedding/embedding.ts';
import { toSignedBytes } from '../provider/embedding/vector-bytes.ts';
import { lanePriceOf, type Prices } from '../provider/prices.ts';
import type { HotStore, HotStoreOptions } from '../redis/hot-store.ts';
import { Searcher } from '../search/search.ts';
import type { Sink } from '../sink/sink.ts';
import { isModelServed } from '../store/batch/presence.ts';
import { getOrigin } from '../store/corpus/origins.ts';
import { getCorpusSettings } from '../store/corpus/settings.ts';
import type { Database } from '../store/driver/database.ts';
import { migrate } from '../store/driver/migrate.ts';
import { openPostgres } from '../store/driver/postgres.ts';
import { openSqlite } from '../store/driver/sqlite.ts';
import { openGateAt } from '../store/item/gates.ts';
import {
  openPgvector,
  type PgvectorSetting,
  type PgvectorStanding,
} from '../store/search/pgvector.ts';
import { attemptOf } from './adapter/attempt-workspace.ts';
import { openProviders, type ProviderSettings } from './adapter/batch-providers.ts';
import { type BlobSettings, openBlobs } from './adapter/blobs.ts';
import {
  completerOf,
  configured,
  type EmbedderSettings,
  type ExtractorOptions,
  embeddersFor,
} from './adapter/models.ts';
import { openSinks, type SinkSettings } from './adapter/sinks.ts';
import { outagesOf } from './outages.ts';
import { documentsOf, type ServicesOptions, worksOf } from './step-services.ts';
import { vectorsOf } from './vector-search.ts';
import { realWorld } from './world.ts';

export interface AssembleOptions {
  readonly data: string;
  /** Postgres; the embedded store where absent. */
  readonly databaseUrl?: string | undefined;
  readonly places?: number | undefined;
  /** Exact `host:port` pairs that may be fetched from although they are not public. */
  readonly allowHosts?: readonly string[] | undefined;
  /** What turns text into vectors; the local one where nothing is said. */
  readonly embedder?: EmbedderSettings | undefined;
  /** A model that finds entities, behind an interface like OpenAI's; rules where absent. */
  readonly extractor?: ExtractorOptions | undefined;
  /** `off`, `auto`, or the path of a Chromium that shows pages which need their scripts. */
  readonly browser?: string | undefined;
  readonly render?: RenderWhen | undefined;
  /** How fast single domains may be read. */
  readonly pace?: Paces | undefined;
  /** Who takes work for hours, and how each is reached. */
  readonly batchProviders?: ProviderSettings | undefined;
  /** Providers that Pawl does not know by itself. */
  readonly batchAdapters?: readonly BatchProvider[] | undefined;
  readonly batchPollMs?: number | undefined;
  readonly batchGatherMs?: number | undefined;
  /** How long a batch task is held without a sign of life from its process. */
  readonly batchHoldMs?: number | undefined;
  /** Where the fetched bytes are kept; in the data folder where absent. */
  readonly blobs?: BlobSettings | undefined;
  /** Where generations are delivered to beside the store. */
  readonly sinks?: SinkSettings | undefined;
  /** `auto`: Postgres searches vectors where it has pgvector. */
  readonly pgvector?: PgvectorSetting | undefined;
  readonly world?: World | undefined;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
  /** An outage that was told by `onError` lasts, or is over. */
  readonly onOutage?: ((message: string) => void) | undefined;
  /** Where the interactive attempt tells what it does; nowhere where absent. */
  readonly attemptLog?: Log | undefined;
  /** Told which step begins, for the watch over the event loop. */
  readonly onBegin?: ((name: string) => void) | undefined;
  /** Told of each call of a model. */
  readonly onCall?: ((call: ModelCall) => void) | undefined;
  /** Told how far a long step has come. */
  readonly onProgress?: ((event: NewEvent) => void) | undefined;
  /** Builds another pipeline than that of documents: the way to add a step. */
  readonly pipeline?: ((documents: Pipeline) => Pipeline) | undefined;
  /** The work of steps is left to services in other processes. */
  readonly services?: ServicesOptions | undefined;
}

export interface Assembled {
  readonly database: Database;
  readonly engine: Engine;
  readonly searcher: Searcher;
  readonly batch: BatchRunner;
  readonly attempt: AttemptSession;
  readonly blobs: StreamedBlobStore;
  readonly sinks: readonly Sink[];
  /** Whether Postgres searches vectors; undefined where the store is none. */
  readonly pgvector: PgvectorStanding | undefined;
  /** The one that is configured. */
  readonly embedder: Embedder;
  /** Undefined: rules and lists. */
  readonly extractor: Extractor | undefined;
  /** Where this process would send texts. */
  readonly origins: ConfiguredOrigins;
  readonly chunker: Chunker;
  readonly lifecycle: Lifecycle;
  readonly world: World;
  /** Which corpus a caller means by a name. */
  readonly corpora: CorpusDirectory;
  /** What fails in the background is told here; an outage only now and then. */
  readonly onError: (what: string, error: unknown) => void;
  /** Where steps ask services in other processes; absent where none are asked. */
  readonly broker: HandoffBroker | undefined;
  /** What this process does for others without a job. */
  readonly works: Works;
  /** To addresses that others have named. */
  readonly post: Post;
  estimate(input: EstimateInput): Promise<Estimate>;
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const { onCall, world = realWorld() } = options;
  const allowed = allowedHosts(options.allowHosts ?? []);
  const fetcher = httpFetcher({ world, allowed });
  const rendering = renderingOf(options, fetcher, world);
  const blobs = await openBlobs(options.blobs, { data: options.data, world });
  const parser = processParser({ world, owner: thisProcess() });
  const providers = new BatchProviders(await openProviders(options, { world, allowed, blobs }));
  const database = await openDatabase(options, world);
  const embedders = embeddersFor(options.embedder ?? { choice: 'local' }, world, onCall);
  const paidAnswers = new PaidAnswers(database, world);
  const sinks = await openSinks(options.sinks ?? {}, world);
  const completer = options.extractor && completerOf(options.extractor, { world, onCall });
  const extractor = completer && modelExtractor(completer, paidAnswers);
  const texts = new TextThreads(world);
  const parts = {
    ...embedders,
    ...{ paidAnswers, fetcher, rendering, chunker: texts.cut, finder: texts.finder },
    extractor: extractor ?? localExtractor(texts.findEntities),
    paces: options.pace,
    parser: parser.parse,
    lane: laneOf(options, { providers, world, embedder: embedders.embedder, completer }),
  };
  const { onError, endWatch } = outagesOf(options, { database, sinks: sinks.sinks, world });
  const { documents, broker } = documentsOf(options.services, {
    tools: { ...parts, blobs, sinks: sinks.sinks },
    ...{ completer, broker: { database, world, onError } },
    blobs: options.blobs && blobs,
  });
  const pipeline = observed(rebuilt(documents, options.pipeline), options.onBegin);
  await migrate(database, pipeline.lifecycle);
  await openGates(database, options.pace ?? {});
  const pgvector = await openPgvector(database, options.pgvector ?? 'auto');
  const engine = engineOf(options, {
    ...{ database, pipeline, world, blobs, onError, sinks: sinks.sinks },
    hasPoints: pgvector?.isUsed,
  });
  const { banks, lifecycle } = pipeline;
  const batch = batchOf(options, { database, blobs, world, providers, onError, banks });
  const mirror = vectorsOf(database, sinks, options.pgvector);
  const searcher = new Searcher({ database, ...embedders.forQueries, mirror });
  const reading = { parser, fetcher, rendering, chunker: texts.cut };
  const attempt = await attemptOf(options, { database, blobs, world, engine, ...reading });
  const close = async (): Promise<void> => {
    endWatch();
    // While the store is open: what the attempt still has under way must come to rest.
    await attempt.close();
    await Promise.all([parser.close(), texts.close(), rendering?.renderer.close()]);
    // What was paid for is waited for, and needs the database to be kept.
    await Promise.all([embedders.close(), extractor?.close?.(), sinks.close(), blobs.close()]);
    await database.close();
  };
  const estimate = estimator(options, { parts, database, world });
  const clients = { database, engine, searcher, batch, attempt, blobs, lifecycle, world, broker };
  const works = worksOf({ ...parts, world, completer, embedders, texts });
  const { embedder, origins } = configured(embedders, completer);
  const models = { embedder, extractor, origins, pgvector, sinks: sinks.sinks, chunker: texts.cut };
  const told = { onError, post: httpPost({ world, allowed }), corpora: corporaIn(database, world) };
  return { ...clients, ...models, ...told, works, estimate, close };
}

const corporaIn = (database: Database, world: World): CorpusDirectory =>
  new CorpusDirectory(database, () => world.now());

function engineOf(
  { allowHosts = [], places, onProgress }: AssembleOptions,
  parts: Omit<EngineOptions, 'places' | 'onProgress' | 'liveness' | 'checkSource'>,
): Engine {
  const allowed = allowedHosts(allowHosts);
  return new Engine({
    ...parts,
    ...{ places, onProgress },
    liveness: thisProcess(),
    checkSource: ({ kind, source }) => {
      if (kind === 'url') checkTarget(readUrl(source), allowed);
    },
  });
}

function batchOf(
  { batchPollMs: pollIntervalMs, batchGatherMs: gatherMs, batchHoldMs: holdMs }: AssembleOptions,
  parts: Omit<RunnerOptions, 'pollIntervalMs' | 'gatherMs' | 'holdMs'>,
): BatchRunner {
  return new BatchRunner({ ...parts, pollIntervalMs, gatherMs, holdMs });
}

async function openDatabase(
  { data, databaseUrl: url }: AssembleOptions,
  world: World,
): Promise<Database> {
  if (url !== undefined) return openPostgres({ url });
  return openSqlite({ path: join(resolve(data), 'pawl.db'), world });
}

interface LaneParts {
  readonly providers: BatchProviders;
  readonly world: World;
  readonly embedder: Embedder;
  readonly completer: Completer | undefined;
}

/** What the cheap lane can leave to a provider: of this process, or of another one. */
function laneOf(
  { extractor, embedder }: AssembleOptions,
  { providers, embedder: own, completer, world }: LaneParts,
): DocumentLane {
  const isServedBy = (
    model: string,
    taskType: string,
    origin: Origin | undefined,
  ): LaneModel['isServed'] =>
    providers.has(model, taskType, origin?.url)
      ? undefined
      : (reader) => isModelServed(reader, { model, taskType, now: world.now() });
  // A model that is asked for fewer dimensions than it has goes the usual way.
  const [, vectors] = /^openai:([^@]+)$/.exec(embedder?.choice ?? '') ?? [];
  const modelOf = (
    model: string | undefined,
    taskType: string,
    { set, origin }: { set: Partial<Prices> | undefined; origin: Origin | undefined },
  ): LaneModel | undefined =>
    model === undefined
      ? undefined
      : {
          ...{ model, price: lanePriceOf(model, set), origin },
          isServed: isServedBy(model, taskType, origin),
        };
  const embeddings = modelOf(vectors, 'embedding', {
    set: { input: embedder?.centsPerMillionTokens },
    origin: own.origin,
  });
  return {
    entities: modelOf(extractor?.model, 'completion', {
      set: extractor?.prices,
      origin: completer?.origin,
    }),
    recordings: providers.hasTranscriber
      ? {
          transcriberOf: (address) => providers.transcriberOf(address),
          urlOf: (name) => providers.urlOf(name),
          hourPriceOf: (name) => providers.hourPriceOf(name),
        }
      : undefined,
    embeddings: embeddings && { ...embeddings, storedModel: own.model, encode: toSignedBytes },
  };
}

interface EstimatorParts {
  readonly parts: Omit<DocumentPipelineOptions, 'blobs'> & ReturnType<typeof embeddersFor>;
  readonly database: Database;
  readonly world: World;
}

function estimator(
  { embedder: embedding, extractor: extraction }: AssembleOptions,
  { parts, database, world }: EstimatorParts,
): Assembled['estimate'] {
  return async (input) => {
    const { embedder, otherEmbedder, extractor } = parts;
    const place = placeOf(input);
    const { model } = await getCorpusSettings(database, place);
    const url =
      model === null ? undefined : await getOrigin(database, { ...place, use: embedUse(model) });
    return estimateIngestion(
      {
        pipeline: documentPipeline({ ...parts, blobs: nowhere }),
        reader: database,
        world,
        embedder: (model !== null && otherEmbedder(model, url)) || embedder,
        extractor,
        tokensPerMinute: {
          embedder: (embedding?.budget ?? limits.budget).tokensPerMinute,
          extractor: (extraction?.budget ?? limits.completion).tokensPerMinute,
        },
      },
      input,
    );
  };
}

/** For steps whose results nobody keeps. */
const nowhere: BlobStore = {
  put: async () => 'nowhere',
  get: () => Promise.reject(new Failure('source_missing', 'nothing is kept of an estimate')),
};

export interface AssembledPreview {
  readonly preview: Preview;
  close(): Promise<void>;
}

/** What looks at documents without a store. */
export function assemblePreview(
  options: Pick<AssembleOptions, 'allowHosts' | 'browser' | 'render' | 'world'>,
): AssembledPreview {
  const { allowHosts = [], world = realWorld() } = options;
  const parser = processParser({ world, owner: thisProcess() });
  const fetcher = httpFetcher({ world, allowed: allowedHosts(allowHosts) });
  const rendering = renderingOf(options, fetcher, world);
  const preview = new Preview({ fetcher, parser: parser.parse, world, rendering });
  const close = async (): Promise<void> => {
    await Promise.all([parser.close(), rendering?.renderer.close()]);
  };
  return { preview, close };
}

export interface AccessSettings extends Omit<AccessOptions, 'remote'> {
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

export interface AssembledAccess {
  readonly access: OpenAccess;
  close(): void;
}

/** Who may ask, and how much. With Redis, when it was reached or found to be away. */
export async function assembleAccess(settings: AccessSettings): Promise<AssembledAccess> {
  const { redisUrl: url, world, log } = settings;
  if (url === undefined) return { access: openAccess(settings), close: () => undefined };
  // Loaded where it is used: a command without a service starts faster.
  const { RedisLink } = await import('../access/limit/redis.ts');
  const remote = new RedisLink({ url, world, log });
  await remote.settled();
  return { access: openAccess({ ...settings, remote }), close: () => remote.close() };
}

/** What several orchestrators show each other. */
export async function assembleHotStore(options: HotStoreOptions): Promise<HotStore> {
  const { openHotStore } = await import('../redis/hot-store.ts');
  return openHotStore(options);
}

async function openGates(database: Database, paces: Paces): Promise<void> {
  const gates = Object.entries(paces);
  if (gates.length === 0) return;
  await database.write(async (transaction) => {
    for (const [name, pace] of gates) await openGateAt(transaction, { ...pace, name });
  });
}

/** No browser is started here: only that there is one is seen to. */
export function renderingOf(
  { browser = 'off', render: when = 'needed' }: Pick<AssembleOptions, 'browser' | 'render'>,
  fetcher: Fetcher,
  world: World,
): Rendering | undefined {
  const executable = findBrowser(browser);
  if (executable === undefined) return undefined;
  return { renderer: new ChromiumRenderer({ executable, fetcher, world }), when };
}
