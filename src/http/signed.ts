/**
 * Requests that a service of Pawl has signed. The signature is verified before the body is read,
 * and the body is verified with the signed digest, so a sender without the key cannot make Pawl
 * read much.
 */
import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashKey } from '../access/key.ts';
import { callerOf } from '../access/membership/claims.ts';
import { digestHeader, digestOf, isSignedBy, signatureHeader } from '../handoff/signature.ts';
import { Failure } from '../kernel/failure/failure.ts';
import type { ServerOptions } from './server.ts';

/** Runs before the authentication hooks. */
export function checkSignatures(
  app: FastifyInstance,
  { internalKey, service }: ServerOptions,
): void {
  const digests = new WeakMap<FastifyRequest, string>();
  app.decorateRequest('isSigned', false);
  app.addHook('onRequest', async (request) => {
    const signature = headerOf(request, signatureHeader);
    if (signature === undefined || request.routeOptions.config?.isOpen) return;
    const digest = headerOf(request, digestHeader) ?? '';
    const signed = { method: request.method, path: request.originalUrl, digest };
    const at = { signature, now: service.world.now() };
    if (internalKey === undefined || !isSignedBy(internalKey, signed, at)) throw refused();
    request.isSigned = true;
    request.caller = callerOf(
      hashKey(internalKey),
      { caller_type: 'service' },
      { internalIds: new Set() },
    );
    digests.set(request, digest);
  });
  app.addHook('preParsing', async (request, _, payload) => {
    const digest = digests.get(request);
    if (digest === undefined) return payload;
    digests.delete(request);
    return payload.pipe(digesting(digest));
  });
  app.addHook('preHandler', async (request) => {
    // Requests without a body are not parsed.
    const digest = digests.get(request);
    if (digest !== undefined && digest !== digestOf('')) throw refused();
  });
}

function digesting(expected: string): Transform {
  const hash = createHash('sha256');
  return new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(hash.digest('hex') === expected ? null : refused());
    },
  });
}

function refused(): Failure {
  return new Failure('forbidden', 'the signature does not match this request, key and time');
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
