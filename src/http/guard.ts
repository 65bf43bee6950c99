/**
 * Hooks before and after every handler: authentication, rate limits, origin and body checks,
 * timeouts, and the audit log.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rejectedCaller } from '../access/access.ts';
import type { CallerContext } from '../access/caller.ts';
import type { RouteName } from '../contract/contract.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { classifyAddress } from '../pipeline/fetch/address.ts';
import { refuseOverLimit } from '../service/rate.ts';
import type { Service } from '../service/service.ts';
import { isAllowedOrigin } from './cors.ts';
import { requestSpan } from './log/tracing.ts';
import { problemOf } from './problem.ts';
import { RefusedCallbacks } from './refused-callbacks.ts';
import type { ServerOptions } from './server.ts';
import { checkSignatures } from './signed.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: CallerContext;
    /** A service of Pawl has signed it with the internal key. */
    isSigned: boolean;
  }
  interface FastifyContextConfig {
    name: string;
    isOpen: boolean;
    isUpload: boolean;
    isInternal: boolean;
    /** The response ends when its reader leaves. */
    isStream?: boolean;
    /** Messages of other hosts, which the handler verifies. */
    isRaw?: boolean;
  }
}

const safeHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export function guardRequest(app: FastifyInstance, options: ServerOptions): void {
  const { service, isLocal, onBegin } = options;
  const sources: Sources = new WeakMap();
  const timers = new WeakMap<FastifyRequest, () => void>();
  const stopTimer = (request: FastifyRequest): void => timers.get(request)?.();
  app.decorateRequest('caller');
  checkSignatures(app, options);
  app.addHook('onRequest', async (request, reply) => {
    // The response to a preflight request has been sent.
    if (reply.sent) return;
    reply.header('x-request-id', request.id).headers(safeHeaders);
    const { config } = request.routeOptions;
    onBegin?.(config?.name ?? 'a request');
    const isAllowed = isAllowedOrigin(request, options.corsOrigins ?? []);
    if (!config?.isRaw) refuseCrossSite(request, { isLocal, isAllowed });
    refuseEncoded(request);
    if (hasBody(request)) timers.set(request, limitBody(request, reply, service));
    if (config?.isOpen || request.is404) return;
    const { countedAs } = options;
    if (!request.isSigned) await admit(request, reply, { ...service, countedAs, sources });
    if (config.isInternal && !request.caller.internal) {
      throw new Failure(
        'forbidden',
        'only services of Pawl may call this: an internal key is required',
      );
    }
  });
  const refused = new RefusedCallbacks(service);
  app.addHook('onError', async (request, _, error) => {
    refused.see(request, error, () => rejectedCaller(keyOf(request)));
  });
  app.addHook('preHandler', (request, _, done) => {
    // The body has been read and checked meanwhile, so other requests may have started.
    onBegin?.(request.routeOptions.config?.name ?? 'a request');
    if (!request.routeOptions.config?.isUpload) stopTimer(request);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    stopTimer(request);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    stopTimer(request);
    done();
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? 'unknown';
    const seconds = reply.elapsedTime / 1000;
    service.metrics.seeRequest({ method, route, status: reply.statusCode }, seconds);
    // How long a stream lasts says nothing about the service.
    if (!routeOptions.config?.isStream)
      service.metrics.activity.time('requests', reply.elapsedTime);
    const summary = { method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) };
    request.log.info(summary, 'answered');
    service.trace?.(requestSpan(request, reply, service.world.now()));
  });
}

interface Admission
  extends Pick<Service, 'access' | 'directory'>,
    Pick<ServerOptions, 'countedAs'> {
  readonly sources: Sources;
}

async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { access, directory, countedAs, sources }: Admission,
): Promise<void> {
  const { name, isInternal } = request.routeOptions.config;
  const caller = await access.authenticate(keyOf(request), sourceOf(request, sources));
  request.caller = (await directory?.resolve(caller)) ?? caller;
  if (isInternal) return;
  const decision = await access.admit(request.caller, countedAs?.[name as RouteName] ?? name);
  if (Number.isFinite(decision.limit)) {
    reply.headers({
      'x-ratelimit-limit': String(decision.limit),
      'x-ratelimit-remaining': String(Math.max(decision.remaining, 0)),
      'x-ratelimit-reset': String(Math.ceil(decision.resetAtMs / 1000)),
    });
  }
  refuseOverLimit(decision);
}

/**
 * The address that a request came from, or undefined if it does not identify the sender: a proxy on
 * this machine or in its network forwards requests of everyone.
 */
function sourceOf({ socket }: FastifyRequest, known: Sources): string | undefined {
  if (known.has(socket)) return known.get(socket);
  const { remoteAddress = '' } = socket;
  const source = classifyAddress(remoteAddress) === 'public' ? remoteAddress : undefined;
  known.set(socket, source);
  return source;
}

/** Cached by connection, whose address does not change. */
type Sources = WeakMap<object, string | undefined>;

/**
 * From `X-API-Key`, or else from `Authorization: Bearer`. Never from the address, because addresses
 * are written to logs.
 */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key'];
  if (key !== undefined) return Array.isArray(key) ? key[0] : key;
  return /^Bearer +([^\s]+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * A page of another site can make a browser send a request here. Without keys, that would be enough
 * for access. So such requests are refused unless the operator allows the origin, and so are host
 * names that only resolve to this machine.
 */
function refuseCrossSite(
  { headers, method }: FastifyRequest,
  { isLocal, isAllowed }: { isLocal: boolean; isAllowed: boolean },
): void {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && !isAllowed && !safeMethods.has(method)) {
    throw new Failure('forbidden', 'pages of other sites may not change anything here');
  }
  if (!isLocal) return;
  if (headers.host !== undefined && !isLoopbackHost(headers.host)) {
    throw new Failure(
      'forbidden',
      'without API keys, Pawl only answers requests to localhost names',
    );
  }
  const { origin } = headers;
  if (origin === undefined || isAllowed || safeMethods.has(method)) return;
  const own = headers.host ?? '';
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  // Another port of this machine is another site, because anybody may serve pages there.
  if (!isLoopbackHost(host) || host !== own) {
    throw new Failure('forbidden', 'pages of other sites may not change anything here');
  }
}

export function isLoopbackHost(host: string): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

/**
 * Compressed bodies are refused, because a small one may expand to a large one. Text must be UTF-8.
 */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new Failure('content_type_unsupported', 'a request body must not be compressed');
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (/^utf-?8$/i.test(charset)) return;
  throw new Failure('content_type_unsupported', 'a request body must be in UTF-8');
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Does not wait for a body that is too slow. */
function limitBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { world }: Pick<Service, 'world'>,
): () => void {
  const { isUpload } = request.routeOptions.config ?? {};
  const timeMs = isUpload ? limits.request.uploadMs : limits.request.bodyMs;
  return world.setTimer(() => {
    if (request.raw.complete || reply.sent) return;
    const failure = new Failure('request_too_slow', 'the request was not received in time');
    const body = JSON.stringify(problemOf(failure, request.id));
    reply.hijack();
    reply.raw.writeHead(408, {
      'content-type': 'application/problem+json',
      'x-request-id': request.id,
      connection: 'close',
    });
    reply.raw.end(body, () => request.raw.destroy());
  }, timeMs);
}
