/** The HTTP server: every route of the contract, with the same validation and the same errors. */
import { METHODS, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import multipart from '@fastify/multipart';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { contract, type Route, type RouteName } from '../contract/contract.ts';
import { compileValidator } from '../contract/validation.ts';
import { Failure, type FailureCode, failures } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { attemptRoutes } from '../service/handler/attempt.ts';
import { batchRoutes } from '../service/handler/batch.ts';
import { callerRoutes, shareRoutes } from '../service/handler/callers.ts';
import { corpusRoutes, documentRoutes, entityRoutes } from '../service/handler/corpora.ts';
import { eventRoutes, historyRoutes } from '../service/handler/history.ts';
import { inboxRoutes } from '../service/handler/inbox.ts';
import { jobRoutes, steeringRoutes, submitRoutes } from '../service/handler/jobs.ts';
import { runRoutes } from '../service/handler/runs.ts';
import { searchRoutes } from '../service/handler/search.ts';
import { serviceRoutes, storeChecks } from '../service/handler/service.ts';
import { sourceRoutes } from '../service/handler/sources.ts';
import { systemRoutes } from '../service/handler/system.ts';
import { uploadRoutes } from '../service/handler/upload.ts';
import { webhookRoutes } from '../service/handler/webhooks.ts';
import type { Handler, Handlers, Service } from '../service/service.ts';
import type { News } from '../service/stream/news.ts';
import { endConnection, guardConnections } from './connections.ts';
import { guardRequest } from './guard.ts';
import { readJsonBodies } from './json-body.ts';
import { type LogOptions, loggerOptions } from './log/logger.ts';
import { problemOf, retryAfterOf, toPublicFailure } from './problem.ts';
import { serveWorkbench } from './workbench.ts';

export interface ServerOptions {
  readonly service: Pick<Service, 'world' | 'access' | 'audit' | 'metrics' | 'trace' | 'directory'>;
  /** The handlers. A route without one does not exist. */
  readonly handlers: Partial<Handlers>;
  /** The key that services of Pawl sign their requests with. */
  readonly internalKey?: string | undefined;
  /** Whether the workbench is served. */
  readonly hasWorkbench: boolean;
  readonly log: LogOptions;
  /** Routes that count against the rate limit of another. */
  readonly countedAs?: Partial<Record<RouteName, RouteName>> | undefined;
  /** There are no keys: only local requests, and none from other sites through a browser. */
  readonly isLocal: boolean;
  /** The idle timeout of a connection. */
  readonly idleMs?: number | undefined;
  /** Called when a route starts, for the event loop monitor. */
  readonly onBegin?: ((name: string) => void) | undefined;
}

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { service, log } = options;
  const { request } = limits;
  const app: FastifyInstance = Fastify({
    logger: loggerOptions(log),
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id'], service),
    bodyLimit: request.bodyBytesMax,
    connectionTimeout: options.idleMs ?? request.idleMs,
    keepAliveTimeout: request.keepAliveMs,
    requestTimeout: 0,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    http: {
      maxHeaderSize: request.headerBytesMax,
      headersTimeout: request.headersMs,
      connectionsCheckingInterval: 1000,
    },
    clientErrorHandler: (error, socket) => answerRaw(error, socket, service),
    frameworkErrors: (error, asked, reply) => void sendProblem(error, asked, reply),
  });
  const server = app.server as Server;
  guardConnections(server);
  server.maxHeadersCount = request.headersMax;
  app.removeContentTypeParser('text/plain');
  readJsonBodies(app, () => service.world.uuid());
  app.setValidatorCompiler(compileValidator as never);
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((asked, reply) => {
    const known = (METHODS as readonly string[]).includes(asked.method);
    const what = known ? `${asked.method} ${pathOf(asked.url)}` : 'this method';
    return sendProblem(new Failure('route_unknown', `there is no ${what}`), asked, reply);
  });
  await app.register(multipart, {
    throwFileSizeLimit: false,
    preservePath: true,
    limits: {
      fieldNameSize: 100,
      fieldSize: 1000,
      fields: 16,
      fileSize: limits.document.sourceBytesMax,
      files: request.uploadFilesMax,
      parts: request.uploadFilesMax + 16,
      headerPairs: 32,
    },
  });
  guardRequest(app, options);
  addRoutes(app, options.handlers);
  if (options.hasWorkbench) serveWorkbench(app);
  return app;
}

/** All routes of a process with a store, except those of services. */
export function storeHandlers(service: Service, news: News) {
  return {
    ...submitRoutes(service),
    ...jobRoutes(service),
    ...steeringRoutes(service),
    ...uploadRoutes(service),
    ...webhookRoutes(service),
    ...eventRoutes(service),
    ...historyRoutes(service, news),
    ...inboxRoutes(service),
    ...corpusRoutes(service),
    ...shareRoutes(service),
    ...callerRoutes(service),
    ...documentRoutes(service),
    ...entityRoutes(service),
    ...runRoutes(service),
    ...attemptRoutes(service),
    ...batchRoutes(service),
    ...searchRoutes(service),
    ...sourceRoutes(service),
    ...serviceRoutes(service, storeChecks(service)),
    ...systemRoutes(service),
  } satisfies Partial<Handlers>;
}

function addRoutes(app: FastifyInstance, handlers: Partial<Handlers>): void {
  for (const name of Object.keys(contract) as RouteName[]) {
    const route: Route = contract[name];
    if (!handlers[name]) continue;
    const [method = 'GET', url = '/'] = name.split(' ');
    app.route({
      method,
      url,
      // Services send pages with their text. The sender is verified before the body is read.
      bodyLimit: route.isInternal ? limits.handoff.bodyBytesMax : limits.request.bodyBytesMax,
      config: {
        name,
        isOpen: route.isOpen ?? false,
        isUpload: route.takes !== undefined,
        isInternal: route.isInternal ?? false,
      },
      schema: {
        ...(route.params && { params: route.params }),
        ...(route.query && { querystring: route.query }),
        ...(route.body && { body: route.body }),
      },
      handler: (request, reply) => answer(handlers[name] as Handler<RouteName>, request, reply),
    });
  }
}

async function answer(
  handler: Handler<RouteName>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { params, query, body, headers, log } = request;
  const route: Route | undefined = contract[request.routeOptions.config.name as RouteName];
  if (route) reply.code(route.status);
  const ask = { caller: request.caller, params, query, body, headers, log, request, reply };
  const value = await handler(ask as Parameters<typeof handler>[0]);
  return value ?? reply;
}

/** A client may name its request. An id that is unsafe to log is replaced. */
function requestIdOf(
  given: string | string[] | undefined,
  { world }: Pick<Service, 'world'>,
): string {
  const isUsable = typeof given === 'string' && /^[\w.:-]+$/.test(given);
  return isUsable && given.length <= limits.request.headerIdCharactersMax ? given : world.uuid();
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const failure = toPublicFailure(error);
  const problem = problemOf(failure, request.id);
  if (problem.status >= 500) request.log.error({ err: error, code: failure.code }, 'failed');
  const retryAfter = retryAfterOf(failure);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  // The rest of a refused body is not read: the connection ends with the response.
  if (problem.status === 413) reply.header('connection', 'close');
  reply.header('x-request-id', request.id).code(problem.status);
  return reply.type('application/problem+json').serializer(JSON.stringify).send(problem);
}

/** The query may contain private data. */
function pathOf(url: string): string {
  return url.split('?')[0] ?? '';
}

const codesOfParser: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_too_slow',
};

/**
 * Input that is not HTTP never becomes a request. It is answered on the raw connection, which ends.
 */
function answerRaw(
  error: Error & { code?: string },
  socket: Socket,
  { world }: Pick<Service, 'world'>,
): void {
  if (socket.destroyed || !socket.writable) return;
  const code = codesOfParser[error.code ?? ''] ?? 'bad_request';
  const detail = code === 'bad_request' ? 'this is not an HTTP request' : failures[code].advice;
  const problem = problemOf(new Failure(code, detail), world.uuid());
  const body = JSON.stringify(problem);
  const answer =
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
    'content-type: application/problem+json\r\nconnection: close\r\n' +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  endConnection(socket, answer, world);
}
