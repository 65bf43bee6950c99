/**
 * Cross-origin requests (CORS) of pages that the operator names. There are no cookies, so responses
 * never allow credentials: a key is sent as a header by the page itself.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

const methods = 'GET, POST, PUT, PATCH, DELETE';
const requestHeaders = [
  ...['accept', 'authorization', 'content-type', 'idempotency-key', 'last-event-id'],
  ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'x-api-key'],
  'x-request-id',
].join(', ');
const responseHeaders = [
  ...['idempotency-replayed', 'mcp-session-id', 'retry-after', 'x-ratelimit-limit'],
  ...['x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'],
].join(', ');
const preflightSeconds = 7200;

/** Whether the page that sent a request may use this service. */
export function isAllowedOrigin({ headers }: FastifyRequest, origins: readonly string[]): boolean {
  const { origin } = headers;
  return origin !== undefined && (origins.includes(origin) || origins.includes('*'));
}

/** Must be added before the guards, which refuse pages of other origins. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    // A cache must not give the response for one origin to another.
    reply.header('vary', 'origin');
    if (!isAllowedOrigin(request, origins)) return;
    const { origin, 'access-control-request-method': asked } = request.headers;
    reply.headers({
      'access-control-allow-origin': origins.includes('*') ? '*' : origin,
      'access-control-expose-headers': responseHeaders,
    });
    if (request.method !== 'OPTIONS' || asked === undefined) return;
    reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': String(preflightSeconds),
      // Chromium asks for this before a public page reaches a private address.
      'access-control-allow-private-network': 'true',
    });
    await reply.code(204).send();
  });
}
