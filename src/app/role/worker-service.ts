/** A service without a store: answers its routes, processes its queue, and calls back. */
import type { AddressInfo } from 'node:net';
import { type Audit, makeAudit } from '../../access/audit.ts';
import { CallerDirectory } from '../../access/caller-directory.ts';
import { CorpusDirectory } from '../../access/corpus-directory.ts';
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
import { openBlobs } from '../adapter/blobs.ts';
import { openAnswers, openQueue, type QueueName } from '../adapter/queues.ts';
import { openSinks } from '../adapter/sinks.ts';
import type { AssembleOptions } from '../options.ts';
import type { RedisAddresses } from '../settings/redis.ts';
import type { RoleName } from '../settings/service.ts';
import { worksOf } from '../step-services.ts';
import { openTools } from '../tools.ts';
import { vectorsOf } from '../vector-search.ts';
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

type RoleSettings = Pick<
  AssembleOptions,
  | 'allowHosts'
  | 'browser'
  | 'render'
  | 'embedder'
  | 'extractor'
  | 'sinks'
  | 'pgvector'
  | 'blobs'
  | 'database'
  | 'workers'
  | 'world'
  | 'onError'
>;

export interface RoleOptions extends GuardOptions, RoleSettings {
  readonly role: Exclude<RoleName, 'all' | 'orchestrator'>;
  readonly host: string;
  readonly port: number;
  readonly internalKey: string;
  readonly orchestratorUrl?: string | undefined;
  readonly addresses: RedisAddresses;
  /** False: this process only answers requests, and takes no messages. */
  readonly work?: boolean | undefined;
  /** The most messages that may wait in the queue; further requests are rejected. */
  readonly queueDepthMax?: number | undefined;
  readonly otlpUrl?: string | undefined;
  readonly syncMs?: Partial<Record<Stage, number>> | undefined;
  readonly log: LogOptions;
}

export interface RunningRole {
  readonly address: string;
  /** Takes no more messages, finishes or returns those in progress, and answers open requests. */
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
    log: options.log,
    isLocal: guarded.isLocal,
    internalKey: options.internalKey,
    hasWorkbench: false,
    ...(options.role === 'embedding' && {
      countedAs: { 'POST /enqueue': 'POST /embed', 'GET /enqueue/:id': 'POST /embed' } as const,
    }),
    handlers: {
      ...routesOf(options, parts, { world, audit }),
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
  /** Called for each call of a model. */
  readonly onCall: ((call: ModelCall) => void) | undefined;
}

async function openParts(options: RoleOptions, { world, log, onCall }: Opening) {
  const { role, addresses, database: url } = options;
  const [name] = roles[role].consumes;
  // Redis first: it refuses a wrong configuration before anything else is opened.
  const queue = name && (await openQueue(name, { addresses, world, log }));
  const answers = name && (await openAnswers(name, { addresses, log }));
  const searches = role === 'embedding' && url !== undefined;
  const database = searches ? await openPostgres({ url }) : undefined;
  const browser = role === 'scraper' ? options.browser : 'off';
  const extractor = role === 'embedding' ? options.extractor : undefined;
  const { allowHosts, render, embedder } = options;
  const tools = openTools({ allowHosts, browser, render, embedder, extractor, onCall }, world);
  const sinks = await openSinks((searches && options.sinks) || {}, world);
  const mirror = database && vectorsOf(database, sinks, options);
  const { forQueries } = tools.embedders;
  const blobs = options.blobs && (await openBlobs(options.blobs, { data: '.', world }));
  const payloads = payloadsBy(blobs);
  const queues = queue ? [queue] : [];
  return {
    queue,
    answers,
    database,
    sinks,
    tools,
    works: worksOf(tools, world),
    searcher: database && new Searcher({ database, ...forQueries, mirror }),
    corpora: database && new CorpusDirectory(database, () => world.now()),
    payloads,
    enqueued: new Enqueued({ answers: answers ?? memoryResponses(world), payloads, world }),
    metrics: new Metrics({ now: () => world.now(), streams: () => 0, queues }),
    close: async (): Promise<void> => {
      answers?.close();
      await Promise.all([queue?.close(), tools.close()]);
      await Promise.all([database?.close(), blobs?.close(), sinks.close()]);
    },
  };
}

/** The routes of the role. */
function routesOf(
  options: RoleOptions,
  parts: Parts,
  { world, audit }: RouteParts,
): Partial<Handlers> {
  const { role, allowHosts, syncMs, queueDepthMax } = options;
  const { queue, database, searcher, corpora, tools, works, metrics, enqueued } = parts;
  const services: WorkServices = {
    ...workServicesOf({ world, allowHosts, syncMs }),
    works,
    enqueued,
    chunker: tools.texts.cut,
    model: tools.embedders.embedder.model,
    queueDepthMax,
    onCut: (took) => metrics.seeCut(took),
    queues: { [role === 'scraper' ? 'visit' : 'embed']: queue },
  };
  const all: Partial<Handlers> = {
    ...workRoutes(services),
    ...(database &&
      searcher &&
      corpora &&
      searchRoute({ database, corpora, searcher, metrics, audit })),
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
  { queue, database, sinks, tools }: Parts,
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
    ...(role === 'embedding' && { provider: () => checkEmbedder(tools.embedders.embedder) }),
  };
}

interface ConsumeParts
  extends Pick<Parts, 'works' | 'metrics' | 'payloads' | 'answers' | 'enqueued'> {
  readonly queue: Queue;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

function consume(
  { internalKey: key, orchestratorUrl: url = '', workers }: RoleOptions,
  { queue, works, metrics, payloads, answers, enqueued, world, onError }: ConsumeParts,
): Promise<Consumer> {
  const onTry = ({ kind, durationMs }: Tried): void => metrics.seeWork(kind, durationMs / 1000);
  return startWorker({
    queue,
    works,
    world,
    answers,
    payloads,
    onError,
    onTry,
    client: enqueued.before(orchestratorLink({ url, key, world })),
    worker: workerName(world),
    places: workers ?? placesOf[queue.name as QueueName],
  });
}
