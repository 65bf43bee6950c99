/** Pawl as a service: the engine and the HTTP server in one process. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Access, localAccess } from './api/access.ts';
import { attemptShape, stagedShape } from './api/attempt-shape.ts';
import { isLoopbackHost } from './api/guard.ts';
import { LateLog, type LogOptions, logTransitions } from './api/logger.ts';
import { Metrics } from './api/metrics.ts';
import { News } from './api/news.ts';
import { ProgressBoard } from './api/progress-board.ts';
import { buildServer } from './api/server.ts';
import type { Service } from './api/service.ts';
import { Streams } from './api/streams.ts';
import type { News as AttemptNews } from './attempt/session.ts';
import { Pawl } from './index.ts';
import { Failure } from './kernel/failure.ts';
import { limits } from './kernel/limits.ts';
import type { World } from './kernel/world.ts';
import { type AssembleOptions, assemble } from './main.ts';

export interface ServiceOptions extends Omit<AssembleOptions, 'onProgress' | 'attemptLog'> {
  readonly host: string;
  /** 0 takes one that is free. */
  readonly port: number;
  /** Who may ask; without it, whoever is on this machine. */
  readonly access?: Access | undefined;
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
  const isLocal = options.access === undefined;
  if (isLocal) refuseOpenHost(host);
  const progress = new ProgressBoard();
  const logger: { error?: (fields: object, message: string) => void } = {};
  const attemptLog = new LateLog();
  const onError = (what: string, error: unknown): void => {
    logger.error?.({ err: error, what }, 'background work failed, and will be tried again');
    options.onError?.(what, error);
  };
  const assembled = await assemble({
    ...options,
    onError,
    attemptLog,
    onProgress: (event) => progress.tell(event),
  });
  const { database, engine, world, searcher, blobs, embedder, lifecycle, attempt, batch } =
    assembled;
  const pawl = new Pawl(assembled);
  const news = new News({ database, relay: engine.relay, onError });
  const streams = new Streams({ database, news, progress, world, onError });
  attempt.listen((told) => tellAttempt(streams, told));
  const metrics = new Metrics({ database, now: () => world.now(), streams: () => streams.size });
  let isDraining = false;
  const service: Service = {
    ...{ database, searcher, blobs, embedder, lifecycle, world, streams, metrics, progress },
    ...{ attempt, isLocal, commands: engine.commands, relay: engine.relay, batch: batch.commands },
    access: options.access ?? localAccess(),
    isDraining: () => isDraining,
  };
  const app = await buildServer({ service, news, log, isLocal });
  logger.error = (fields, message) => app.log.error(fields, message);
  attemptLog.open(app.log);
  news.listen((told) => {
    logTransitions(app.log, told);
    void metrics.see(told).catch((error) => onError('metrics', error));
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    isDraining = true;
    streams.close();
    // What a person has under way is discarded before anything else ends.
    closed ??= attempt
      .close()
      .then(() => drain(app, world))
      .then(() => news.stop())
      .then(() => pawl.close());
    return closed;
  };
  try {
    await news.start();
    if (options.work ?? true) await pawl.work();
    await app.listen({ host, port });
  } catch (error) {
    await close();
    throw listenFailure(error, { host, port });
  }
  return { address: addressOf(app.server.address() as AddressInfo), pawl, close };
}

/** Between two numbered events, and without a number of its own. */
function tellAttempt(streams: Streams, told: AttemptNews): void {
  if (told.kind === 'attempt') streams.tell(told.caller, 'attempt', attemptShape(told.view));
  else streams.tell(told.caller, 'attempt_source', stagedShape(told.view));
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
