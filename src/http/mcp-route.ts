/** `/mcp`: the Model Context Protocol over streamable HTTP, behind the same guards as the API. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallerContext } from '../access/caller.ts';

/** Answers one request of the protocol. */
export type McpAnswer = (
  request: Request,
  body: unknown,
  caller: CallerContext,
) => Promise<Response>;

export function addMcpRoute(app: FastifyInstance, answer: McpAnswer): void {
  const flags = { isOpen: false, isUpload: false, isInternal: false };
  for (const method of ['POST', 'GET', 'DELETE']) {
    app.route({
      method,
      url: '/mcp',
      config: { name: `${method} /mcp`, ...flags },
      handler: (request, reply) => pass(request, reply, answer),
    });
  }
}

async function pass(request: FastifyRequest, reply: FastifyReply, answer: McpAnswer) {
  const ended = new AbortController();
  reply.raw.once('close', () => ended.abort());
  const { method, headers, body } = request;
  const sent = new Request(new URL(request.url, 'http://pawl.invalid'), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || hopHeaders.has(name) ? [] : [[name, String(value)]],
    ),
    signal: ended.signal,
  });
  const response = await answer(sent, body, request.caller);
  if (response.status >= 500) {
    request.log.error({ status: response.status }, 'an MCP request failed');
  }
  reply.code(response.status);
  response.headers.forEach((value, name) => void reply.header(name, value));
  return reply.send(response.body ? Readable.fromWeb(response.body as never) : '');
}

/** They describe the connection, and the length of a body that has been read. */
const hopHeaders = new Set(['connection', 'content-length', 'host', 'transfer-encoding']);
