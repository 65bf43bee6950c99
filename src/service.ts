/** Pawl as a service: the engine and the HTTP server in one process. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { makeAudit } from './access/audit.ts';
import { localAccess, type ServiceAccess } from './api/access.ts';
import { attemptShape, stagedShape } from './api/attempt-shape.ts';
import { isLoopbackHost } from './api/guard.ts';
import { auditEnd, LateLogger } from './api/late-logger.ts';
import { type LogOptions, logTransitions } from './api/logger.ts';
import { Metrics } from './api/metrics.ts';
import { News } from './api/news.ts';
import { ProgressBoard } from './api/progress-board.ts';
import { QueueRoom } from './api/queue-room.ts';
import { buildServer } from './api/server.ts';
import type { Service } from './api/service.ts';
import { Standings } from './api/standings.ts';
import { Streams } from './api/streams.ts';
import type { News as AttemptNews, AttemptSession } from './attempt/session.ts';
import { Outbox } from './engine/outbox.ts';
import { Pawl } from './index.ts';
import { Failure } from './kernel/failure.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import { type AccessSettings, type AssembleOptions, assemble, assembleAccess } from './main.ts';
import type { NewEvent } from './observe/event.ts';
import type { EndRow } from './store/deliveries.ts';
import { realWorld } from './world.ts';

export interface ServiceOptions extends Omit<AssembleOptions, 'onProgress' | 'attemptLog'> {
  readonly host: string;
  /** 0 takes one that is free. */
  readonly port: number;
  /** Who may ask. Without keys or Membership in it, whoever is on this machine. */
  readonly keys?: Omit<AccessSettings, 'world' | 'audit' | 'log'> | undefined;
  /** The same, ready made. */
  readonly access?: ServiceAccess | undefined;
  /** How many items may wait; whoever would add to more is asked to come back later. */
  readonly queueDepthMax?: number | undefined;
  /** What the secrets of webhooks are made from; without it there are none. */
  readonly webhookSecret?: string | undefined;
  /** False: this process only answers, and leaves the work to others. */
  readonly work?: boolean | undefined;
  readonly log: LogOptions;
}

export interface RunningService {
  readonly address: string;
  readonly pawl: Pawl;
  /** Ends streams, lets what is under way be answered, and hands back what is not finished. */
  close(): Promise<void>;
}

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host, port, log } = options;
  const world = options.world ?? realWorld();
  const logger = new LateLogger(options.onError);
  const audit = makeAudit(world, (record) => logger.audit(record));
  const guarded = await openGuard(options, { world, audit, log: logger });
  const isLocal = guarded.access === undefined;
  if (isLocal) refuseOpenHost(host);
  const progress = new ProgressBoard();
  const { failed: onError } = logger;
  const onProgress = (event: NewEvent): void => progress.tell(event);
  const assembled = await assemble({ ...options, world, onError, onProgress, attemptLog: logger });
  const { database, engine, attempt, post } = assembled;
  const pawl = new Pawl(assembled);
  const news = new News({ database, relay: engine.relay, onError });
  const streams = new Streams({ database, news, progress, world, onError });
  attempt.listen((told) => tellAttempt(streams, told));
  const metrics = new Metrics({ database, now: () => world.now(), streams: () => streams.size });
  const { webhookSecret: secret } = options;
  const onEnd = (end: EndRow): void => auditEnd(audit, end);
  const outbox = new Outbox({ database, world, post, secret, onEnd, onError });
  let isDraining = false;
  const service: Service = {
    ...assembled,
    ...{ streams, metrics, progress, audit, isLocal },
    ...{ commands: engine.commands, relay: engine.relay },
    access: guarded.access ?? localAccess(),
    standings: new Standings({ database, world }),
    room: new QueueRoom({ database, world, max: options.queueDepthMax }),
    webhooks: { secret, ring: () => outbox.ring() },
    isDraining: () => isDraining,
  };
  const app = await buildServer({ service, news, log, isLocal });
  logger.open(app.log, isLocal ? undefined : log);
  news.listen((told) => {
    logTransitions(app.log, told);
    if (told.some(({ isEnd }) => isEnd)) outbox.ring();
    metrics.see(told).catch((error) => onError('metrics', error));
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    isDraining = true;
    streams.close();
    closed ??= closeAll({ attempt, app, world, news, outbox, pawl }).finally(guarded.close);
    return closed;
  };
  try {
    await news.start();
    outbox.ring();
    if (options.work ?? true) await pawl.work();
    await app.listen({ host, port });
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port });
  }
  return { address: addressOf(app.server.address() as AddressInfo), pawl, close };
}

interface Parts {
  readonly attempt: AttemptSession;
  readonly app: FastifyInstance;
  readonly world: World;
  readonly news: News;
  readonly outbox: Outbox;
  readonly pawl: Pawl;
}

async function closeAll({ attempt, app, world, news, outbox, pawl }: Parts): Promise<void> {
  // What a person has under way is discarded before anything else ends.
  await attempt.close();
  await drain(app, world);
  await Promise.all([news.stop(), outbox.stop()]);
  await pawl.close();
}

/** Between two numbered events, and without a number of its own. */
function tellAttempt(streams: Streams, told: AttemptNews): void {
  if (told.kind === 'attempt') streams.tell(told.caller, 'attempt', attemptShape(told.view));
  else streams.tell(told.caller, 'attempt_source', stagedShape(told.view));
}

/** Undefined where no key is asked for. */
async function openGuard(
  { access, keys }: ServiceOptions,
  parts: Pick<AccessSettings, 'world' | 'audit' | 'log'>,
): Promise<{ access: ServiceAccess | undefined; close: () => void }> {
  if (access || !keys) return { access, close: () => undefined };
  const opened = await assembleAccess({ ...keys, ...parts });
  return { access: opened.access.isGuarded ? opened.access : undefined, close: opened.close };
}

/** What is being answered is answered, but not waited for without end. */
async function drain(app: FastifyInstance, world: World): Promise<void> {
  const closeAll = (): void => app.server.closeAllConnections();
  const cancel = world.setTimer(closeAll, limits.loop.shutdownGraceMs);
  await app.close();
  cancel();
}

function refuseOpenHost(host: string): void {
  if (isLoopbackHost(host)) return;
  throw new Failure(
    'usage_error',
    'without keys, whoever reaches Pawl may do everything, so it listens on this machine only, ' +
      `and not on ${host}: set PAWL_API_KEYS or PAWL_MEMBERSHIP_URL, or leave --host out`,
  );
}

const listenCodes = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND'];

function listenFailure(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !listenCodes.includes(code)) return error;
  const why = code === 'EADDRINUSE' ? 'something else listens there' : code;
  const message = `Pawl cannot listen on ${host}:${port} (${why}): choose another with --port`;
  return new Failure('usage_error', message, { cause: error });
}

function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
