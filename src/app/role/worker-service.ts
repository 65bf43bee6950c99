/** A service without a store: it answers its routes, works off its queue, and calls back. */
import type { AddressInfo } from 'node:net';
import { type Audit, makeAudit } from '../../access/audit.ts';
import { CallerDirectory } from '../../access/caller-directory.ts';
import { CorpusDirectory } from '../../access/corpus-directory.ts';
import { thisProcess } from '../../engine/item/liveness.ts';
import { payloadsBy } from '../../handoff/payload.ts';
import { startWorker, type Tried } from '../../handoff/worker/consumer.ts';
import { orchestratorLink } from '../../handoff/worker/orchestrator-client.ts';
import { LateLogger } from '../../http/log/deferred-logger.ts';
import type { LogOptions } from '../../http/log/logger.ts';
import { traceCalls } from '../../http/log/tracing.ts';
import { buildServer } from '../../http/server.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { placesOf, workerName, workServicesOf } from '../../library/standalone-services.ts';
import type { Log } from '../../observe/log.ts';
import type { ModelCall } from '../../observe/trace.ts';
import { processParser } from '../../pipeline/extract/process/process-parser.ts';
import { allowedHosts } from '../../pipeline/fetch/address.ts';
import { httpFetcher } from '../../pipeline/fetch/http/http.ts';
import { TextThreads } from '../../pipeline/thread/text-threads.ts';
import type { Consumer, Queue } from '../../queue/queue.ts';
import { memoryResponses } from '../../redis/memory-responses.ts';
import { Searcher } from '../../search/search.ts';
import { Enqueued } from '../../service/enqueued.ts';
import { searchRoute } from '../../service/handler/search.ts';
import {
  type Checks,
  checkEmbedder,
  checkStore,
  serviceRoutes,
  sinkChecks,
} from '../../service/handler/service.ts';
import { type WorkServices, workRoutes } from '../../service/handler/services.ts';
import { Metrics } from '../../service/metric/metrics.ts';
import type { Handlers } from '../../service/service.ts';
import { openPostgres } from '../../store/driver/postgres.ts';
import { type BlobSettings, openBlobs } from '../adapter/blobs.ts';
import { completerOf, embeddersFor } from '../adapter/models.ts';
import { openAnswers, openQueue, type QueueName } from '../adapter/queues.ts';
import { openSinks } from '../adapter/sinks.ts';
import type { RedisAddresses } from '../settings/redis.ts';
import type { RoleName } from '../settings/service.ts';
import { worksOf } from '../step-services.ts';
import { vectorsOf } from '../vector-search.ts';
import { type AssembleOptions, renderingOf } from '../wire.ts';
import { realWorld } from '../world.ts';
import {
  addressOf,
  drained,
  type GuardOptions,
  listenFailure,
  openGuard,
  openSpans,
  refuseOpenHost,
} from './http-bootstrap.ts';
import { roles } from './roles.ts';

type Models = Pick<
  AssembleOptions,
  'embedder' | 'extractor' | 'browser' | 'render' | 'allowHosts' | 'sinks' | 'pgvector'
>;

export interface RoleOptions extends GuardOptions, Models {
  readonly role: Exclude<RoleName, 'all' | 'orchestrator'>;
  readonly host: string;
  readonly port: number;
  readonly internalKey: string;
  readonly orchestratorUrl?: string | undefined;
  readonly addresses: RedisAddresses;
  /** For searching. */
  readonly databaseUrl?: string | undefined;
  /** A blob store that all services reach. */
  readonly blobs?: BlobSettings | undefined;
  /** Messages that are worked on at once. */
  readonly places?: number | undefined;
  /** False: this process only answers requests, and takes no messages. */
  readonly work?: boolean | undefined;
  /** How many messages may wait in the queue; whoever would add to more comes back later. */
  readonly queueDepthMax?: number | undefined;
  readonly otlpUrl?: string | undefined;
  readonly syncMs?: Partial<Record<Stage, number>> | undefined;
  readonly world?: World | undefined;
  readonly log: LogOptions;
  readonly onError?: ((what: string, error: unknown) => void) | undefined;
}

export interface RunningRole {
  readonly address: string;
  /** Takes no more messages, ends or gives back those at work, and answers what was asked. */
  close(): Promise<void>;
}

export async function startRole(options: RoleOptions): Promise<RunningRole> {
  const { host, port, world = realWorld() } = options;
  const logger = new LateLogger(options.onError);
  const { failed: onError } = logger;
  const audit = makeAudit(world, (record) => logger.audit(record));
  const guarded = await openGuard(options, { world, audit, log: logger });
  if (guarded.isLocal) refuseOpenHost(host);
  const spans = openSpans(options, world, onError);
  const onCall = spans && traceCalls(spans.tell, world);
  const parts = await openParts(options, { world, log: logger, onCall });
  const { queue, metrics, database } = parts;
  const directory = database && new CallerDirectory({ database, audit, now: () => world.now() });
  let isDraining = false;
  const standing = { metrics, access: guarded.access, isDraining: () => isDraining };
  const app = await buildServer({
    service: { world, access: guarded.access, audit, directory, metrics, trace: spans?.tell },
    ...{ log: options.log, isLocal: guarded.isLocal, internalKey: options.internalKey },
    hasWorkbench: false,
    ...(options.role === 'embedding' && {
      countedAs: { 'POST /enqueue': 'POST /embed', 'GET /enqueue/:id': 'POST /embed' } as const,
    }),
    handlers: {
      ...routesOf(options, { ...parts, world, audit }),
      ...serviceRoutes(standing, checksOf(options, parts)),
    },
  });
  logger.open(app.log, guarded.isLocal ? undefined : options.log);
  const isWorking = queue && (options.work ?? true);
  const consumer = isWorking && (await consume(options, { ...parts, queue, world, onError }));
  const end = async (): Promise<void> => {
    isDraining = true;
    if (consumer) await consumer.stop(limits.loop.shutdownGraceMs);
    await drained(app, world);
    await Promise.all([parts.close(), spans?.flush()]).finally(guarded.close);
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  try {
    await app.listen({ host, port });
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port });
  }
  return { address: addressOf(app.server.address() as AddressInfo), close };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

interface Opening {
  readonly world: World;
  readonly log: Log;
  /** Told of each call of a model. */
  readonly onCall: ((call: ModelCall) => void) | undefined;
}

async function openParts(options: RoleOptions, { world, log, onCall }: Opening) {
  const [name] = roles[options.role].consumes;
  // First what may refuse.
  const { addresses } = options;
  const queue = name && (await openQueue(name, { addresses, world, log }));
  const answers = name && (await openAnswers(name, { addresses, log }));
  const { databaseUrl } = options;
  const searches = options.role === 'embedding' && databaseUrl !== undefined;
  const database = searches ? await openPostgres({ url: databaseUrl }) : undefined;
  const fetcher = httpFetcher({ world, allowed: allowedHosts(options.allowHosts ?? []) });
  const rendering = options.role === 'scraper' ? renderingOf(options, fetcher, world) : undefined;
  const parser = processParser({ world, owner: thisProcess() });
  const embedders = embeddersFor(options.embedder ?? { choice: 'local' }, world, onCall);
  const completer =
    options.role === 'embedding' && options.extractor
      ? completerOf(options.extractor, { world, onCall })
      : undefined;
  const texts = new TextThreads(world);
  const tools = { fetcher, rendering, parser: parser.parse, world };
  const works = worksOf({ ...tools, texts, embedders, completer });
  const sinks = await openSinks((searches && options.sinks) || {}, world);
  const mirror = database && vectorsOf(database, sinks, options.pgvector);
  const searcher = database && new Searcher({ database, ...embedders.forQueries, mirror });
  const blobs = options.blobs && (await openBlobs(options.blobs, { data: '.', world }));
  const queues = queue ? [queue] : [];
  const metrics = new Metrics({ now: () => world.now(), streams: () => 0, queues });
  const close = async (): Promise<void> => {
    answers?.close();
    await Promise.all([queue?.close(), parser.close(), texts.close(), rendering?.renderer.close()]);
    await Promise.all([embedders.close(), completer?.close?.(), database?.close()]);
    await Promise.all([blobs?.close(), sinks.close()]);
  };
  const corpora = database && new CorpusDirectory(database, () => world.now());
  const payloads = payloadsBy(blobs);
  const enqueued = new Enqueued({ answers: answers ?? memoryResponses(world), payloads, world });
  const served = { queue, database, searcher, corpora, sinks, embedders, texts, enqueued };
  return { ...served, works, metrics, payloads, answers, close };
}

/** Of all that could be answered here, what the role answers. */
function routesOf(
  { role, ...options }: RoleOptions,
  {
    queue,
    database,
    searcher,
    corpora,
    embedders,
    texts,
    works,
    metrics,
    enqueued,
    ...parts
  }: Parts & RouteParts,
): Partial<Handlers> {
  const clients: WorkServices = {
    ...workServicesOf({ ...options, world: parts.world }),
    ...{ works, enqueued, chunker: texts.cut, model: embedders.embedder.model },
    ...{ queueDepthMax: options.queueDepthMax, onCut: (took) => metrics.seeCut(took) },
    queues: { [role === 'scraper' ? 'visit' : 'embed']: queue },
  };
  const all: Partial<Handlers> = {
    ...workRoutes(clients),
    ...(database &&
      searcher &&
      corpora &&
      searchRoute({ ...parts, database, corpora, searcher, metrics })),
  };
  const own = roles[role].routes.map((name) => [name, all[name]]);
  return Object.fromEntries(own.filter(([, handler]) => handler !== undefined));
}

interface RouteParts {
  readonly world: World;
  readonly audit: Audit;
}

function checksOf(
  { role, orchestratorUrl }: RoleOptions,
  { queue, database, sinks, embedders }: Parts,
): Checks {
  return {
    ...(database && { store: () => checkStore(database) }),
    ...sinkChecks(sinks.sinks),
    ...(queue && {
      queue: async () => {
        const { waiting, active } = await queue.depth();
        return `${waiting} messages wait, ${active} are worked on`;
      },
    }),
    ...(orchestratorUrl !== undefined && {
      orchestrator: async () => {
        const url = new URL('healthz', orchestratorUrl.replace(/\/*$/, '/'));
        const signal = AbortSignal.timeout(limits.search.timeoutMs);
        const { ok, status } = await fetch(url, { signal });
        if (!ok) throw new Error(`it answered ${status}`);
        return 'it answers';
      },
    }),
    ...(role === 'embedding' && { provider: () => checkEmbedder(embedders.embedder) }),
  };
}

interface ConsumeParts
  extends Pick<Parts, 'works' | 'metrics' | 'payloads' | 'answers' | 'enqueued'> {
  readonly queue: Queue;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

function consume(
  { internalKey: key, orchestratorUrl: url = '', places }: RoleOptions,
  { queue, works, metrics, payloads, answers, enqueued, world, onError }: ConsumeParts,
): Promise<Consumer> {
  const onTry = ({ kind, durationMs }: Tried): void => metrics.seeWork(kind, durationMs / 1000);
  return startWorker({
    ...{ queue, works, world, answers, payloads, onError, onTry },
    client: enqueued.before(orchestratorLink({ url, key, world })),
    worker: workerName(world),
    places: places ?? placesOf[queue.name as QueueName],
  });
}
