/**
 * One POST to an address from a third party, as restricted as a GET: the name is resolved and
 * checked, only the checked address is connected to, and a redirect is not followed. Only the
 * status of the response is read.
 */
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { clientFor, systemConnect } from './connect.ts';
import { type FetcherOptions, userAgent } from './http.ts';
import { race } from './race.ts';
import { resolveTarget, systemResolve } from './resolve.ts';

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Resolves with the status. */
export type Post = (request: PostRequest) => Promise<number>;

export function httpPost(options: FetcherOptions): Post {
  const { world, allowed, resolve = systemResolve, connect = systemConnect } = options;
  return async ({ url, headers, body, timeoutMs, signal: ended }) => {
    const deadline = new AbortController();
    const cancel = world.setTimer(() => {
      const message = `${url.host} took longer than ${timeoutMs} ms`;
      deadline.abort(new Failure('timeout_soft', message));
    }, timeoutMs);
    const signal = AbortSignal.any([ended, deadline.signal]);
    try {
      const target = await race(resolveTarget(url, { resolve, allowed }), signal);
      const client = await clientFor(target, { connect, timers: world, signal });
      try {
        const answer = await client.request({
          method: 'POST',
          path: `${url.pathname}${url.search}`,
          headers: { 'user-agent': userAgent, ...headers },
          body,
          signal,
        });
        return answer.statusCode;
      } finally {
        await client.destroy();
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : failureOf(error, url);
    } finally {
      cancel();
    }
  };
}

/** Socket errors contain the resolved address, which is not disclosed. */
function failureOf(error: unknown, url: URL): Failure {
  const failure = toFailure(error);
  if (failure.cause === undefined && failure.code !== 'internal_error') return failure;
  return new Failure('network_error', `${url.host} cannot be reached`, { cause: error });
}
