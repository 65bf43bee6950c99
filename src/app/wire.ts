/**
 * The composition root. Only this file and its neighbours in `src/app/` choose adapters. It opens
 * the resources of a process, builds the pipeline on them, and the engine on the pipeline.
 */
import { join, resolve } from 'node:path';
import { CorpusDirectory } from '../access/corpus-directory.ts';
import { openAttempt } from '../attempt/open.ts';
import type { AttemptSession } from '../attempt/session.ts';
import type { StreamedBlobStore } from '../blob/blob.ts';
import { BatchProviders } from '../engine/batch/plan.ts';
import { BatchRunner } from '../engine/batch/runner.ts';
import type { ConfiguredOrigins } from '../engine/command/origins.ts';
import { Engine } from '../engine/engine.ts';
import { thisProcess } from '../engine/item/liveness.ts';
import type { HandoffBroker } from '../handoff/orchestrator/broker.ts';
import type { Works } from '../handoff/worker/work.ts';
import type { Lifecycle } from '../kernel/lifecycle/item.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { makeLog } from '../observe/log.ts';
import type { Chunker } from '../pipeline/chunk/chunker.ts';
import { type DocumentPipelineOptions, documentPipeline } from '../pipeline/document.ts';
import type { Extractor } from '../pipeline/entity/extraction.ts';
import { localExtractor } from '../pipeline/entity/local-extractor.ts';
import { modelExtractor } from '../pipeline/entity/model-extractor.ts';
import { httpPost, type Post } from '../pipeline/fetch/http/post.ts';
import { checkTarget } from '../pipeline/fetch/http/resolve.ts';
import type { Paces } from '../pipeline/fetch/robots/politeness.ts';
import { readUrl } from '../pipeline/fetch/url.ts';
import { PaidAnswers } from '../pipeline/paid-answers.ts';
import { observed, type Pipeline, rebuilt } from '../pipeline/pipeline.ts';
import { RequestMoney } from '../pipeline/request-money.ts';
import { pluggedExtractor } from '../port/entity-extractor.ts';
import { checkReranker, pluggedReranker } from '../port/reranker.ts';
import { checkSteps } from '../port/step-check.ts';
import { withSteps } from '../port/step-pipeline.ts';
import type { Embedder } from '../provider/embedding/embedding.ts';
import { type Answerer, chatAnswerer } from '../search/answer/answerer.ts';
import { paidReranker } from '../search/paid-reranker.ts';
import type { SavedCopies } from '../search/saved/saved-copies.ts';
import { Searcher } from '../search/search.ts';
import type { Sink } from '../sink/sink.ts';
import { sourceKinds } from '../source/kind/kinds.ts';
import type { Database } from '../store/driver/database.ts';
import { migrate } from '../store/driver/migrate.ts';
import { openPostgres } from '../store/driver/postgres.ts';
import { openSqlite } from '../store/driver/sqlite.ts';
import { openGateAt } from '../store/item/gates.ts';
import { openPgvector, type PgvectorStanding } from '../store/search/pgvector.ts';
import { batchLane } from './adapter/batch-lane.ts';
import { openProviders } from './adapter/batch-providers.ts';
import { type OpenBlobs, openBlobs } from './adapter/blobs.ts';
import { answererChat, ownExtractor } from './adapter/models.ts';
import { checkPorts } from './adapter/ports.ts';
import { openReranker, rerankerSettings } from './adapter/reranker.ts';
import { type OpenSinks, openSinks } from './adapter/sinks.ts';
import { type Estimator, estimator } from './estimator.ts';
import type { AssembleOptions } from './options.ts';
import { watchOutages } from './outages.ts';
import { savedIndexes } from './saved-indexes.ts';
import { openBroker, remotePipeline, worksOf } from './step-services.ts';
import { makeStoreFolder } from './store-folder.ts';
import { openTools, previewOf, type Tools } from './tools.ts';
import { vectorsOf } from './vector-search.ts';
import { realWorld } from './world.ts';

export interface Assembled {
  readonly world: World;
  readonly database: Database;
  readonly blobs: StreamedBlobStore;
  readonly sinks: readonly Sink[];
  /** Whether Postgres searches vectors; undefined if the store is not Postgres. */
  readonly pgvector: PgvectorStanding | undefined;
  readonly lifecycle: Lifecycle;
  readonly engine: Engine;
  readonly batch: BatchRunner;
  readonly searcher: Searcher;
  readonly attempt: AttemptSession;
  /** Finds the corpus that a caller means by a name. */
  readonly corpora: CorpusDirectory;
  /** The configured embedder. */
  readonly embedder: Embedder;
  /** The configured model that finds entities; undefined: rules and lists. */
  readonly extractor: Extractor | undefined;
  /** Where this process would send texts. */
  readonly origins: ConfiguredOrigins;
  /** Undefined: no model answers questions. */
  readonly answerer: Answerer | undefined;
  readonly chunker: Chunker;
  /** Sends requests to services in other processes; undefined if this process does all work. */
  readonly broker: HandoffBroker | undefined;
  /** Work that this process does for others, without a job. */
  readonly works: Works;
  /** Posts to addresses that users have named. */
  readonly post: Post;
  readonly estimate: Estimator;
  /** Takes failures of background work; an outage is reported once, not with every failure. */
  readonly onError: (what: string, error: unknown) => void;
  close(): Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<Assembled> {
  checkPorts(options);
  const resources = await openResources(options);
  const { world, tools, database, blobs, sinks, onError } = resources;
  const steps = stepOptions(options, resources);
  const broker = brokerOf(options, resources);
  const pipeline = pipelineOf(options, { steps, broker, tools });
  await migrate(database, pipeline.lifecycle);
  await openGates(database, options.pace ?? {});
  const pgvector = await openPgvector(database, options.pgvector ?? 'auto');
  const data = folderOf(options);
  const saved = savedIndexes({ data, database, onError });
  const engine = engineOf(options, { resources, pipeline, pgvector, saved });
  const batch = batchOf(options, resources, pipeline);
  const { embedder, otherEmbedder } = tools.embedders.forQueries;
  const mirror = vectorsOf(database, sinks, { pgvector: options.pgvector, saved });
  const money = new RequestMoney(database, world);
  const { reranker, origin: rerankerOrigin } = rerankingOf(options, { database, world, money });
  const chat = options.answerer && answererChat(options.answerer, world);
  const searcher = new Searcher({ database, embedder, otherEmbedder, mirror, saved, reranker });
  const attempt = await openAttempts(options, resources, engine);
  return {
    world,
    database,
    blobs,
    sinks: sinks.sinks,
    pgvector,
    lifecycle: pipeline.lifecycle,
    engine,
    batch,
    searcher,
    attempt,
    corpora: new CorpusDirectory(database, () => world.now()),
    embedder: tools.embedders.embedder,
    extractor: resources.extractor,
    origins: {
      embedderOrigin: tools.embedders.embedderOrigin,
      extractorOrigin: tools.completer?.origin,
      rerankerOrigin,
      answererOrigin: chat?.origin,
    },
    answerer: chat && chatAnswerer({ chat, database, money }),
    chunker: tools.texts.cut,
    broker,
    works: worksOf(tools, world),
    post: httpPost({ world, allowed: tools.allowed }),
    estimate: estimator(options, { steps, database, world }),
    onError,
    close: async () => {
      // The attempt writes to the store until it is closed.
      await Promise.all([attempt.close(), saved?.close()]);
      await resources.close();
    },
  };
}

interface Paying {
  readonly database: Database;
  readonly world: World;
  readonly money: RequestMoney;
}

function rerankingOf({ reranker: given }: AssembleOptions, { database, world, money }: Paying) {
  const settings = rerankerSettings(given);
  if (given === undefined) return {};
  if (!settings) return { reranker: pluggedReranker(checkReranker(given)) };
  const model = openReranker(settings, world);
  const { topN = limits.rerank.topN } = settings;
  return { reranker: paidReranker({ model, topN, database, money }), origin: model.origin };
}

interface Resources {
  readonly world: World;
  readonly tools: Tools;
  readonly blobs: OpenBlobs;
  readonly providers: BatchProviders;
  readonly database: Database;
  readonly sinks: OpenSinks;
  readonly paidAnswers: PaidAnswers;
  readonly extractor: Extractor | undefined;
  readonly onError: (what: string, error: unknown) => void;
  close(): Promise<void>;
}

async function openResources(options: AssembleOptions): Promise<Resources> {
  const { world = realWorld(), onError, onOutage } = options;
  if (options.database === undefined) makeStoreFolder(folderOf(options));
  const tools = openTools(options, world);
  const blobs = await openBlobs(options.blobs, { data: folderOf(options), world });
  const reach = { world, allowed: tools.allowed, blobs };
  const providers = new BatchProviders(await openProviders(options, reach));
  const database = await openDatabase(options, world);
  const sinks = await openSinks(options.sinks ?? {}, world, options.sinkAdapters);
  const paidAnswers = new PaidAnswers(database, world);
  const own = ownExtractor(options.extractor);
  const extractor = own
    ? pluggedExtractor(own)
    : tools.completer && modelExtractor(tools.completer, paidAnswers);
  const watched = { database, sinks: sinks.sinks, world };
  const outages = watchOutages({ onError, onOutage }, watched);
  return {
    world,
    tools,
    blobs,
    providers,
    database,
    sinks,
    paidAnswers,
    extractor,
    onError: outages.failed,
    close: async () => {
      outages.close();
      // Before the database: the tools store answers that are already paid for.
      await tools.close();
      await own?.close?.();
      await Promise.all([sinks.close(), blobs.close()]);
      await database.close();
    },
  };
}

async function openDatabase(options: AssembleOptions, world: World): Promise<Database> {
  const { database: url } = options;
  if (url !== undefined) return openPostgres({ url });
  return openSqlite({ path: join(folderOf(options), 'pawl.db'), world });
}

function folderOf({ data = '.pawl' }: AssembleOptions): string {
  return resolve(data);
}

type StepOptions = DocumentPipelineOptions & { readonly chunker: Chunker };

function stepOptions(options: AssembleOptions, resources: Resources): StepOptions {
  const { tools, blobs, sinks, providers, paidAnswers, extractor, world } = resources;
  const { fetcher, rendering, parser, texts, embedders } = tools;
  return {
    blobs,
    sinks: sinks.sinks,
    fetcher,
    rendering,
    paces: options.pace,
    finder: texts.finder,
    parser: parser.parse,
    chunker: texts.cut,
    embedder: embedders.embedder,
    otherEmbedder: embedders.otherEmbedder,
    extractor: extractor ?? localExtractor(texts.findEntities),
    paidAnswers,
    lane: batchLane(options, { providers, tools, world }),
  };
}

/** Requests of steps go to other processes; large payloads need a blob store that all reach. */
function brokerOf(
  { services, blobs: configured }: AssembleOptions,
  { database, blobs, world, onError }: Resources,
): HandoffBroker | undefined {
  const reached = configured && blobs;
  return services && openBroker(services, { database, blobs: reached, world, onError });
}

interface PipelineParts {
  readonly steps: StepOptions;
  readonly broker: HandoffBroker | undefined;
  readonly tools: Tools;
}

function pipelineOf(options: AssembleOptions, { steps, broker, tools }: PipelineParts): Pipeline {
  const { services } = options;
  const documents =
    services && broker
      ? remotePipeline(services, { broker, steps, completer: tools.completer })
      : documentPipeline(steps);
  const built = rebuilt(documents, options.pipeline);
  const added = checkSteps(options.steps ?? [], built.lifecycle.steps);
  const whole = rebuilt(built, (from) => withSteps(from, added, tools.parser.parse));
  return observed(whole, options.onBegin);
}

async function openGates(database: Database, paces: Paces): Promise<void> {
  const gates = Object.entries(paces);
  if (gates.length === 0) return;
  await database.write(async (transaction) => {
    for (const [name, pace] of gates) await openGateAt(transaction, { ...pace, name });
  });
}

interface EngineParts {
  readonly resources: Resources;
  readonly pipeline: Pipeline;
  readonly pgvector: PgvectorStanding | undefined;
  readonly saved: SavedCopies | undefined;
}

function engineOf(
  options: AssembleOptions,
  { resources, pipeline, pgvector, saved }: EngineParts,
): Engine {
  const { database, world, blobs, sinks, tools, onError } = resources;
  const { workers, onProgress } = options;
  return new Engine({
    database,
    pipeline,
    world,
    liveness: thisProcess(),
    blobs,
    indexes: saved,
    contents: blobs,
    sinks: sinks.sinks,
    hasPoints: pgvector?.isUsed,
    checkSource: ({ kind, source }) => {
      if (kind === 'url') checkTarget(readUrl(source), tools.allowed);
    },
    workers,
    kinds: kindsOf(options, resources),
    onProgress,
    onError,
  });
}

function kindsOf(options: AssembleOptions, { tools, world, database }: Resources) {
  const { fetcher, rendering, texts } = tools;
  const { finder, readFeed } = texts;
  const reading = { fetcher, rendering, finder, readFeed };
  const web = { world, ...reading, paces: options.pace, database: () => database };
  const own = { data: resolve(folderOf(options)), bucketKeys: options.bucketKeys };
  return sourceKinds({ ...web, ...own }, options.sourceKinds);
}

function batchOf(
  { batchPollMs, batchGatherMs, batchHoldMs }: AssembleOptions,
  { database, blobs, world, providers, onError }: Resources,
  { banks }: Pipeline,
): BatchRunner {
  return new BatchRunner({
    database,
    blobs,
    world,
    providers,
    banks,
    pollIntervalMs: batchPollMs,
    gatherMs: batchGatherMs,
    holdMs: batchHoldMs,
    onError,
  });
}

/** Interactive imports are prepared in a folder beside the store, and committed in one step. */
function openAttempts(
  options: AssembleOptions,
  { database, blobs, world, tools }: Resources,
  { commands }: Engine,
): Promise<AttemptSession> {
  const preview = previewOf(tools, world);
  return openAttempt({
    database,
    blobs,
    world,
    commands,
    parser: tools.parser.parse,
    chunker: tools.texts.cut,
    folder: join(folderOf(options), 'attempts'),
    liveness: thisProcess(),
    read: (source, signal) => preview.read(source, signal),
    log: options.attemptLog ?? makeLog('silent', () => undefined),
  });
}
