/** Pawl as a service: the engine and the HTTP server in one process. */
import type { AddressInfo } from 'node:net';
import { type Audit, makeAudit } from '../../access/audit.ts';
import type { News as AttemptNews } from '../../attempt/session.ts';
import { Callbacks } from '../../handoff/orchestrator/callbacks.ts';
import { auditEnd, LateLogger } from '../../http/log/deferred-logger.ts';
import { type LogOptions, logTransitions } from '../../http/log/logger.ts';
import { stepSpans, traceCalls } from '../../http/log/tracing.ts';
import { buildServer, storeHandlers } from '../../http/server.ts';
import { Pawl } from '../../index.ts';
import type { Stage } from '../../kernel/lifecycle/stage.ts';
import type { World } from '../../kernel/world.ts';
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
import { JobViews } from '../../service/view/job-views.ts';
import { ProgressBoard } from '../../service/view/progress-board.ts';
import type { EndRow } from '../../store/delivery/deliveries.ts';
import { countWaiting } from '../../store/item/places.ts';
import { Outbox } from '../../webhook/outbox.ts';
import {
  type AccessSettings,
  type Assembled,
  type AssembleOptions,
  assemble,
  assembleHotStore,
} from '../wire.ts';
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
} from './http-bootstrap.ts';
import { openCallers } from './service-callers.ts';

export interface ServiceOptions
  extends Omit<AssembleOptions, 'onProgress' | 'attemptLog'>,
    GuardOptions {
  readonly host: string;
  /** 0 takes one that is free. */
  readonly port: number;
  /** How many items may wait; whoever would add to more is asked to come back later. */
  readonly queueDepthMax?: number | undefined;
  /** What the secrets of webhooks are made from; without it there are none. */
  readonly webhookSecret?: string | undefined;
  /** The Redis in which orchestrators on one Postgres show each other what they know. */
  readonly hotUrl?: string | undefined;
  /** Where spans are sent; without it none are made. */
  readonly otlpUrl?: string | undefined;
  /** False: this process only answers, and leaves the work to others. */
  readonly work?: boolean | undefined;
  /** How long the services may take while somebody waits for their answer. */
  readonly syncMs?: Partial<Record<Stage, number>> | undefined;
  /** After how long without a byte a connection is closed: longer than any of those times. */
  readonly idleMs?: number | undefined;
  readonly log: LogOptions;
}

export interface RunningService {
  readonly address: string;
  readonly pawl: Pawl;
  /** Ends streams, lets what is under way be answered, and hands back what is not finished. */
  close(): Promise<void>;
}

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const world = options.world ?? realWorld();
  const logger = new LateLogger(options.onError);
  const { failed: onError } = logger;
  const audit = makeAudit(world, (record) => logger.audit(record));
  const guarded = await openGuard(options, { world, audit, log: logger });
  if (guarded.isLocal) refuseOpenHost(options.host);
  const spans = openSpans(options, world, onError);
  const progress = new ProgressBoard();
  const watch = new LoopWatch({ world });
  const assembled = await assemble({
    ...options,
    ...{ world, onError, onProgress: progress.tell, attemptLog: logger, onBegin: watch.begin },
    onOutage: (message) => {
      logger.warn(message);
      options.onOutage?.(message);
    },
    onCall: spans && traceCalls(spans.tell, world),
  });
  const pawl = new Pawl(assembled);
  const hot = await openHot(options, { world, log: logger });
  const told = { logger, audit, spans, progress, watch };
  const parts = { options, world, guarded, assembled, hot, ...told };
  const { app, news, outbox, shown, drain, loose } = await build(parts);
  const { broker } = assembled;
  const end = async (): Promise<void> => {
    await drain();
    watch.stop();
    await Promise.all([news.stop(), outbox.stop(), loose?.close(), broker?.stop()]);
    await shown.stop();
    await Promise.all([pawl.close(), spans?.flush()]).finally(guarded.close);
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  const { host, port } = options;
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

interface Parts {
  readonly options: ServiceOptions;
  readonly world: World;
  readonly logger: LateLogger;
  readonly audit: Audit;
  readonly guarded: OpenGuard;
  readonly spans: OtlpSender | undefined;
  readonly progress: ProgressBoard;
  readonly watch: LoopWatch;
  readonly assembled: Assembled;
  readonly hot: HotStore | undefined;
}

/** The server, and all that reads the event log for it. */
async function build({ options, world, logger, audit, guarded, spans, ...parts }: Parts) {
  const { progress, assembled, hot } = parts;
  const { database, engine, lifecycle, attempt, batch, post, onError } = assembled;
  const { log, webhookSecret: secret } = options;
  const { access, isLocal } = guarded;
  const news = new News({ database, relay: engine.relay, world, onError });
  const streams = new Streams({ database, news, progress, lifecycle, world, onError });
  attempt.listen((told) => tellAttempt(streams, told));
  const metrics = new Metrics({
    ...{ database, now: () => world.now(), streams: () => streams.size },
    queues: Object.values(options.services?.queues ?? {}),
    worker: assembled.broker ? undefined : engine.worker,
  });
  const shown = showJobs({ assembled, news, metrics, world, hot, onError });
  const onEnd = (end: EndRow): void => auditEnd(audit, end);
  const outbox = new Outbox({ database, world, post, secret, onEnd, onError });
  let isDraining = false;
  const { directory, follow } = openCallers(assembled, audit);
  const service: Service = {
    ...assembled,
    ...{ streams, metrics, progress, audit, isLocal },
    ...{ commands: engine.commands, relay: engine.relay, batch: batch.commands },
    ...{ callers: engine.callers, directory, access },
    jobs: shown.jobs,
    capacity: new QueueCapacity({
      ...{ world, max: options.queueDepthMax },
      count: () => countWaiting(database),
    }),
    trace: spans?.tell,
    webhooks: { secret, ring: () => outbox.ring() },
    isDraining: () => isDraining,
  };
  const { broker } = assembled;
  const callbacks = new Callbacks({ database, world, broker });
  // Whoever leaves the work to others leaves its routes to them, too.
  const loose = broker
    ? undefined
    : await openStandalone(assembled, { callbacks, options, onError });
  const app = await buildServer({
    ...{ service, log, isLocal, internalKey: options.keys?.internalKey, hasWorkbench: true },
    ...{ onBegin: parts.watch.begin, idleMs: options.idleMs },
    handlers: {
      ...storeHandlers(service, news),
      ...callbackRoutes(callbacks),
      ...(loose && workRoutes(loose.clients)),
    },
  });
  logger.open(app.log, isLocal ? undefined : log);
  watchLoop(parts.watch, { world, logger, metrics });
  news.listen((told) => {
    logTransitions(app.log, told);
    follow(told);
    if (told.some(({ isEnd }) => isEnd)) outbox.ring();
    if (spans) stepSpans(told, engine.worker).forEach(spans.tell);
    metrics.see(told);
  });
  const drain = async (): Promise<void> => {
    isDraining = true;
    streams.close();
    // What a person has under way is discarded before anything else ends.
    await attempt.close();
    await drained(app, world);
  };
  return { app, news, outbox, shown, drain, loose };
}

function watchLoop(
  watch: LoopWatch,
  { world, logger, metrics }: Pick<Parts, 'world' | 'logger'> & { readonly metrics: Metrics },
): void {
  watch.listen(stallLog(world, (message) => logger.warn(message)));
  watch.listen(({ cause }) => metrics.seeStall(cause));
}

interface ShowingParts {
  readonly assembled: Assembled;
  readonly news: News;
  readonly metrics: Metrics;
  readonly world: World;
  readonly hot: HotStore | undefined;
  readonly onError: (what: string, error: unknown) => void;
}

/** Jobs from the store; with Redis, what all orchestrators know, and a wake-up for each commit. */
function showJobs({ assembled, news, metrics, world, hot, onError }: ShowingParts) {
  const { database, lifecycle, engine } = assembled;
  const standings = new ItemCounts({ database, world });
  const jobViews = new JobViews({ database, standings, lifecycle });
  if (!hot) return { jobs: jobViews.shown, stop: async () => undefined };
  const jobs = new HotJobs({
    ...{ store: hot, jobViews, world, onError },
    now: () => database.now(),
    position: () => news.position,
    onRead: (result) => metrics.seeHot(result),
  });
  news.listen((told) => jobs.see(told));
  hot.listen(() => engine.relay.wake());
  const unlisten = engine.relay.onCommit(() => hot.ring());
  const stop = async (): Promise<void> => {
    unlisten();
    await jobs.stop();
    hot.close();
  };
  return { jobs, stop };
}

/** One process alone has nobody to show anything to. */
async function openHot(
  { hotUrl: url, databaseUrl }: ServiceOptions,
  parts: Pick<AccessSettings, 'world' | 'log'>,
): Promise<HotStore | undefined> {
  if (url === undefined || databaseUrl === undefined) return undefined;
  return assembleHotStore({ url, ...parts });
}

/** Between two numbered events, and without a number of its own. */
function tellAttempt(streams: Streams, told: AttemptNews): void {
  if (told.kind === 'attempt') streams.tell(told.caller, 'attempt', attemptShape(told.view));
  else streams.tell(told.caller, 'attempt_source', stagedShape(told.view));
}
