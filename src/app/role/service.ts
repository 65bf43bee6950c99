/** Pawl as a service: the engine and the HTTP server in one process. */
import { statfs } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { type Audit, makeAudit } from '../../access/audit.ts';
import type { CallerDirectory } from '../../access/caller-directory.ts';
import type { News as AttemptNews } from '../../attempt/session.ts';
import { Callbacks } from '../../handoff/orchestrator/callbacks.ts';
import { auditEnd, LateLogger } from '../../http/log/deferred-logger.ts';
import { type LogOptions, logTransitions } from '../../http/log/logger.ts';
import { stepSpans, traceCalls } from '../../http/log/tracing.ts';
import { buildServer, storeHandlers } from '../../http/server.ts';
import type { Pawl } from '../../index.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import type { World } from '../../kernel/world.ts';
import { pawlOf, sessionOf } from '../../library/internal.ts';
import { openStandalone } from '../../library/standalone-services.ts';
import { LoopWatch, stallLog } from '../../observe/loop-watch.ts';
import type { OtlpSender } from '../../observe/otlp.ts';
import type { HotStore } from '../../redis/hot-store.ts';
import { callbackRoutes } from '../../service/handler/callbacks.ts';
import { workRoutes } from '../../service/handler/services.ts';
import { Metrics } from '../../service/metric/metrics.ts';
import { QueueCapacity } from '../../service/queue-capacity.ts';
import type { Service } from '../../service/service.ts';
import { News } from '../../service/stream/news.ts';
import { Streams } from '../../service/stream/streams.ts';
import { attemptShape, stagedShape } from '../../service/view/attempt.ts';
import { HotJobs } from '../../service/view/hot-jobs.ts';
import { ItemCounts } from '../../service/view/item-counts.ts';
import { JobViews, type ShownJobs } from '../../service/view/job-views.ts';
import { ProgressBoard } from '../../service/view/progress-board.ts';
import type { EndRow } from '../../store/delivery/deliveries.ts';
import { countWaiting } from '../../store/item/places.ts';
import { Outbox } from '../../webhook/outbox.ts';
import { assembleHotStore } from '../adapter/access.ts';
import type { AssembleOptions } from '../options.ts';
import { packageVersion } from '../version.ts';
import { type Assembled, assemble } from '../wire.ts';
import { realWorld } from '../world.ts';
import {
  addressOf,
  drained,
  type GuardOptions,
  listenFailure,
  type OpenGuard,
  openGuard,
  openSpans,
  refuseOpenHost,
  refuseOpenOrigins,
} from './http-bootstrap.ts';
import { openMcp } from './mcp-bootstrap.ts';
import { openCallers } from './service-callers.ts';

export interface ServiceOptions
  extends Omit<AssembleOptions, 'onProgress' | 'attemptLog' | 'onBegin' | 'onCall'>,
    GuardOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** Origins whose pages may use the API; `*` for all. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The most items that may wait; further submissions are rejected until there is capacity. */
  readonly queueDepthMax?: number | undefined;
  /** Derives the secrets of webhooks; without it there are no webhooks. */
  readonly webhookSecret?: string | undefined;
  /** The Redis in which orchestrators on one Postgres share their views of jobs. */
  readonly hotUrl?: string | undefined;
  /** Where spans are sent; without it there are none. */
  readonly otlpUrl?: string | undefined;
  /** False: this process only answers requests, and other processes do the work. */
  readonly work?: boolean | undefined;
  /** Timeouts of synchronous requests to the services. */
  readonly syncMs?: Partial<Record<Stage, number>> | undefined;
  /** Closes a connection after this time without a byte: longer than any of those timeouts. */
  readonly idleMs?: number | undefined;
  readonly log: LogOptions;
}

export interface RunningService {
  readonly address: string;
  readonly pawl: Pawl;
  /** Ends streams, answers open requests, and returns unfinished items to the queue. */
  close(): Promise<void>;
}

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host, port } = options;
  const reporting = await openReporting(options);
  const { world, logger, spans, watch, guarded } = reporting;
  const assembled = await assemble({
    ...options,
    world,
    onError: logger.failed,
    onOutage: (message) => {
      logger.warn(message);
      options.onOutage?.(message);
    },
    attemptLog: logger,
    onProgress: reporting.progress.tell,
    onBegin: watch.begin,
    onCall: spans && traceCalls(spans.tell, world),
  });
  const pawl = pawlOf(assembled);
  const hot = await openHotStore(options, reporting);
  const readers = openReaders(options, { reporting, assembled, hot });
  const { app, standalone, drain } = await openHttp(options, { reporting, assembled, readers });
  const { news, outbox, jobs } = readers;
  const { broker } = assembled;
  const end = async (): Promise<void> => {
    await drain();
    watch.stop();
    await Promise.all([outbox.stop(), standalone?.close(), broker?.stop()]);
    // The last transitions are logged, traced and shown to other orchestrators as well.
    await sessionOf(pawl).stop();
    await news.stop();
    await jobs.stop();
    // Model calls end with it, and are traced.
    await pawl
      .close()
      .finally(() => spans?.flush())
      .finally(guarded.close);
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  try {
    watch.start();
    await news.start();
    outbox.ring();
    broker?.start();
    if (options.work ?? true) await pawl.work();
    await app.listen({ host, port });
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port });
  }
  return { address: addressOf(app.server.address() as AddressInfo), pawl, close };
}

/** Access control, and where the process reports what it does. */
interface Reporting {
  readonly world: World;
  readonly logger: LateLogger;
  readonly audit: Audit;
  readonly guarded: OpenGuard;
  readonly spans: OtlpSender | undefined;
  readonly progress: ProgressBoard;
  readonly watch: LoopWatch;
}

async function openReporting(options: ServiceOptions): Promise<Reporting> {
  const world = options.world ?? realWorld();
  const logger = new LateLogger(options.onError);
  const audit = makeAudit(world, (record) => logger.audit(record));
  const guarded = await openGuard(options, { world, audit, log: logger });
  if (guarded.isLocal) refuseOpenHost(options.host);
  if (guarded.isLocal) refuseOpenOrigins(options.corsOrigins);
  const spans = openSpans(options, world, logger.failed);
  const progress = new ProgressBoard();
  const watch = new LoopWatch({ world });
  return { world, logger, audit, guarded, spans, progress, watch };
}

interface ReaderParts {
  readonly reporting: Reporting;
  readonly assembled: Assembled;
  readonly hot: HotStore | undefined;
}

/** Everything that follows the event log. */
interface Readers {
  readonly news: News;
  readonly streams: Streams;
  readonly metrics: Metrics;
  readonly outbox: Outbox;
  readonly jobs: JobReader;
}

function openReaders(
  { webhookSecret: secret, services }: ServiceOptions,
  { reporting, assembled, hot }: ReaderParts,
): Readers {
  const { world, audit, progress } = reporting;
  const { database, engine, lifecycle, attempt, broker, post, onError } = assembled;
  const news = new News({ database, relay: engine.relay, world, onError });
  const streams = new Streams({ database, news, progress, lifecycle, world, onError });
  attempt.listen((change) => streamAttempt(streams, change));
  const metrics = new Metrics({
    database,
    now: () => world.now(),
    streams: () => streams.size,
    queues: Object.values(services?.queues ?? {}),
    worker: broker ? undefined : engine.worker,
  });
  const jobs = openJobs({ assembled, news, metrics, world, hot, onError });
  const onEnd = (end: EndRow): void => auditEnd(audit, end);
  const outbox = new Outbox({ database, world, post, secret, onEnd, onError });
  return { news, streams, metrics, outbox, jobs };
}

interface HttpParts {
  readonly reporting: Reporting;
  readonly assembled: Assembled;
  readonly readers: Readers;
}

async function openHttp(options: ServiceOptions, { reporting, assembled, readers }: HttpParts) {
  const { world, logger, audit, guarded, spans, watch } = reporting;
  const { database, engine, attempt, broker, onError } = assembled;
  const { news, streams, metrics, outbox } = readers;
  const { isLocal } = guarded;
  const { directory, follow } = openCallers(assembled, audit);
  let isDraining = false;
  const shared = { reporting, assembled, readers, directory, isDraining: () => isDraining };
  const service = serviceOf(options, shared);
  const callbacks = new Callbacks({ database, world, broker });
  // With services in other processes, their routes are there as well.
  const standalone = broker
    ? undefined
    : await openStandalone(assembled, { callbacks, options, onError });
  const mcp = openMcp(service, logger);
  const app = await buildServer({
    service,
    log: options.log,
    isLocal,
    internalKey: options.keys?.internalKey,
    hasWorkbench: true,
    onBegin: watch.begin,
    idleMs: options.idleMs,
    corsOrigins: options.corsOrigins,
    mcp: mcp.answer,
    handlers: {
      ...storeHandlers(service, news),
      ...callbackRoutes(callbacks),
      ...(standalone && workRoutes(standalone.clients)),
    },
  });
  logger.open(app.log, isLocal ? undefined : options.log);
  watch.listen(stallLog(world, (message) => logger.warn(message)));
  watch.listen(({ cause }) => metrics.seeStall(cause));
  news.listen((events) => {
    logTransitions(app.log, events);
    follow(events);
    if (events.some(({ isEnd }) => isEnd)) outbox.ring();
    if (spans) stepSpans(events, engine.worker).forEach(spans.tell);
    metrics.see(events);
  });
  const drain = async (): Promise<void> => {
    isDraining = true;
    streams.close();
    await mcp.close();
    // Interactive imports are discarded before anything else ends.
    await attempt.close();
    await drained(app, world);
  };
  return { app, standalone, drain };
}

interface ServiceParts extends HttpParts {
  readonly directory: CallerDirectory;
  readonly isDraining: () => boolean;
}

function serviceOf(
  { webhookSecret: secret, queueDepthMax: max, data }: ServiceOptions,
  { reporting, assembled, readers, directory, isDraining }: ServiceParts,
): Service {
  const { world, audit, guarded, spans, progress } = reporting;
  const { database, engine, batch } = assembled;
  const { streams, metrics, outbox, jobs } = readers;
  return {
    database,
    commands: engine.commands,
    batch: batch.commands,
    relay: engine.relay,
    searcher: assembled.searcher,
    blobs: assembled.blobs,
    embedder: assembled.embedder,
    origins: assembled.origins,
    sinks: assembled.sinks,
    extractor: assembled.extractor,
    answerer: assembled.answerer,
    lifecycle: assembled.lifecycle,
    world,
    access: guarded.access,
    directory,
    corpora: assembled.corpora,
    callers: engine.callers,
    sources: engine.sources,
    audit,
    capacity: new QueueCapacity({ world, max, count: () => countWaiting(database) }),
    jobs: jobs.views,
    trace: spans?.tell,
    webhooks: { secret, ring: () => outbox.ring() },
    streams,
    metrics,
    progress,
    attempt: assembled.attempt,
    about: { version: packageVersion(), readDisk: () => readDisk(data) },
    isLocal: guarded.isLocal,
    isDraining,
  };
}

/** Null for a store without a folder, and where the file system does not tell. */
async function readDisk(folder: string | undefined) {
  if (folder === undefined) return null;
  const { bavail, blocks, bsize } = await statfs(folder);
  return blocks === 0 ? null : { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

interface JobParts {
  readonly assembled: Assembled;
  readonly news: News;
  readonly metrics: Metrics;
  readonly world: World;
  readonly hot: HotStore | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

interface JobReader {
  readonly views: ShownJobs;
  stop(): Promise<void>;
}

/** Views of jobs from the store. With Redis, orchestrators share them and signal their commits. */
function openJobs({ assembled, news, metrics, world, hot, onError }: JobParts): JobReader {
  const { database, lifecycle, engine } = assembled;
  const standings = new ItemCounts({ database, world });
  const jobViews = new JobViews({ database, world, standings, lifecycle });
  if (!hot) return { views: jobViews.shown, stop: async () => undefined };
  const views = new HotJobs({
    store: hot,
    jobViews,
    world,
    onError,
    now: () => database.now(),
    position: () => news.position,
    onRead: (result) => metrics.seeHot(result),
  });
  news.listen((events) => views.see(events));
  hot.listen(() => engine.relay.wake());
  const unlisten = engine.relay.onCommit(() => hot.ring());
  const stop = async (): Promise<void> => {
    unlisten();
    await views.stop();
    hot.close();
  };
  return { views, stop };
}

/** A single process on the embedded store has no other process to share views with. */
async function openHotStore(
  { hotUrl: url, database }: ServiceOptions,
  { world, logger: log }: Reporting,
): Promise<HotStore | undefined> {
  if (url === undefined || database === undefined) return undefined;
  return assembleHotStore({ url, world, log });
}

/** Sent between two numbered events, without a number of its own. */
function streamAttempt(streams: Streams, change: AttemptNews): void {
  if (change.kind === 'attempt') {
    streams.tell(change.caller, 'attempt', attemptShape(change.view));
  } else {
    streams.tell(change.caller, 'attempt_source', stagedShape(change.view));
  }
}
