/** The HTTP server: every route of the contract, with the same validation and the same errors. */
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import multipart from '@fastify/multipart';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Convert } from 'typebox/value';
import { contract, type Route, type RouteName } from '../contract/contract.ts';
import { validatorCompiler } from '../contract/validation.ts';
import { Failure, type FailureCode, failures } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { askStreamRoute } from '../service/handler/ask.ts';
import { attemptRoutes } from '../service/handler/attempt.ts';
import { batchOutputRoutes } from '../service/handler/batch.ts';
import { historyRoutes } from '../service/handler/history.ts';
import { rawRoutes } from '../service/handler/raw.ts';
import { serviceRoutes, storeChecks } from '../service/handler/service.ts';
import { hookRoutes } from '../service/handler/sources.ts';
import { systemHistoryRoutes } from '../service/handler/system.ts';
import { uploadRoutes } from '../service/handler/upload.ts';
import { storeRoutes } from '../service/in-process.ts';
import type { Handler, Handlers, Service } from '../service/service.ts';
import type { News } from '../service/stream/news.ts';
import { endConnection, guardConnections } from './connections.ts';
import { allowOrigins } from './cors.ts';
import { guardRequest } from './guard.ts';
import { readJsonBodies } from './json-body.ts';
import { type LogOptions, loggerOptions } from './log/logger.ts';
import { addMcpRoute, type McpAnswer } from './mcp-route.ts';
import { problemOf, retryAfterOf, toPublicFailure } from './problem.ts';
import { refuseUnknownRoutes } from './unknown-route.ts';
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
  /** Answers requests of the Model Context Protocol. Absent: there is no `/mcp`. */
  readonly mcp?: McpAnswer | undefined;
  /** Routes that count against the rate limit of another. */
  readonly countedAs?: Partial<Record<RouteName, RouteName>> | undefined;
  /** There are no keys: only local requests, and none from other sites through a browser. */
  readonly isLocal: boolean;
  /** Origins whose pages may use the API; `*` for all. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The idle timeout of a connection. */
  readonly idleMs?: number | undefined;
  /** Called when a route starts, for the event loop monitor. */
  readonly onBegin?: ((name: string) => void) | undefined;
}

/** Every path also exists below `/v1`, with the same handler: the version names the contract. */
const versionPrefix = /^\/v1(?=\/[^/])/;

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
    rewriteUrl: ({ url = '/' }) => url.replace(versionPrefix, ''),
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
  app.setValidatorCompiler(validatorCompiler(Convert) as never);
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(sendProblem);
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
  allowOrigins(app, options.corsOrigins ?? []);
  guardRequest(app, options);
  refuseUnknownRoutes(app, namesOf(options.handlers));
  addRoutes(app, options.handlers);
  if (options.mcp) addMcpRoute(app, options.mcp);
  if (options.hasWorkbench) serveWorkbench(app);
  return app;
}

/** All routes of a process with a store, except those of services. */
export function storeHandlers(service: Service, news: News) {
  return {
    ...storeRoutes(service),
    ...askStreamRoute(service),
    ...uploadRoutes(service),
    ...historyRoutes(service, news),
    ...systemHistoryRoutes(service),
    ...attemptRoutes(service),
    ...batchOutputRoutes(service),
    ...rawRoutes(service),
    ...hookRoutes(service),
    ...serviceRoutes(service, storeChecks(service)),
  } satisfies Partial<Handlers>;
}

/** With a name for each HEAD that a route answers, too. */
function namesOf(handlers: Partial<Handlers>): string[] {
  return (Object.keys(handlers) as RouteName[]).flatMap((name) => {
    const { hasHead }: Route = contract[name];
    return hasHead ? [name, name.replace(/^\w+/, 'HEAD')] : [name];
  });
}

function addRoutes(app: FastifyInstance, handlers: Partial<Handlers>): void {
  for (const name of Object.keys(contract) as RouteName[]) {
    const route: Route = contract[name];
    if (!handlers[name]) continue;
    const [method = 'GET', url = '/'] = name.split(' ');
    app.route({
      method: route.hasHead ? [method, 'HEAD'] : method,
      url,
      // Services send pages with their text. The sender is verified before the body is read.
      bodyLimit: bodyLimitOf(route),
      config: {
        name,
        isOpen: route.isOpen ?? false,
        isUpload: route.takes !== undefined,
        isStream: route.media === 'text/event-stream',
        isInternal: route.isInternal ?? false,
        isRaw: route.isRaw ?? false,
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

function bodyLimitOf({ isInternal, isRaw }: Route): number {
  if (isRaw) return limits.sync.signalBytesMax;
  return isInternal ? limits.handoff.bodyBytesMax : limits.request.bodyBytesMax;
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
