/** Requests that no route takes: 405 with the methods that the path has, otherwise 404. */
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../kernel/failure/failure.ts';

interface Known {
  readonly method: string;
  readonly pattern: RegExp;
}

/** `names` are the routes of this process, such as `GET /jobs/:id`. */
export function refuseUnknownRoutes(app: FastifyInstance, names: readonly string[]): void {
  const known = names.map(knownOf);
  const refuse = (asked: FastifyRequest, reply: FastifyReply): Failure => {
    const path = pathOf(asked.originalUrl);
    const isMethod = (METHODS as readonly string[]).includes(asked.method);
    const what = isMethod ? `${asked.method} ${path}` : 'this method';
    const asRouted = pathOf(asked.url);
    const methods = known
      .filter(({ pattern }) => pattern.test(asRouted))
      .map(({ method }) => method);
    if (methods.length === 0) return new Failure('route_unknown', `there is no ${what}`);
    const allowed = methods.join(', ');
    reply.header('allow', allowed);
    return new Failure('method_unknown', `there is no ${what}: this path takes ${allowed}`);
  };
  // In a hook, because a body of a method without a route is otherwise judged first.
  app.addHook('onRequest', async (asked, reply) => {
    if (asked.is404) throw refuse(asked, reply);
  });
}

function knownOf(name: string): Known {
  const [method = '', path = ''] = name.split(' ');
  const literal = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return { method, pattern: new RegExp(`^${literal.replace(/:\w+/g, '[^/]+')}/?$`) };
}

/** The query may contain private data. */
function pathOf(url: string): string {
  return url.split('?')[0] ?? '';
}
