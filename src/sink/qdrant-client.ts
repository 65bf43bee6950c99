/**
 * Qdrant's REST interface: bounded in time and bytes, without redirects, abortable. Returns the
 * `result` of the response envelope, or a failure with a code.
 */
import { readBoundedText } from '../concurrency/bounded.ts';
import { Failure, type FailureCode } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import { boundedRetryAfterMs } from '../kernel/text/retry-after.ts';
import type { World } from '../kernel/world.ts';

export interface QdrantAddress {
  readonly url: string;
  readonly key?: string | undefined;
  readonly world: World;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface QdrantCall {
  readonly body?: unknown;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export class QdrantClient {
  readonly #address: QdrantAddress;
  readonly #root: string;

  constructor(address: QdrantAddress) {
    this.#address = address;
    this.#root = address.url.replace(/\/+$/, '');
  }

  /** For example `PUT /collections/notes/points?wait=true`. */
  async request<T>(call: string, options: QdrantCall): Promise<T> {
    const { result } = await this.#send<{ result: T }>(call, options);
    return result;
  }

  /** Like `request`; undefined if Qdrant says that the object does not exist. */
  async requestIfExists<T>(call: string, options: QdrantCall): Promise<T | undefined> {
    try {
      return await this.request<T>(call, options);
    } catch (error) {
      if (error instanceof Failure && error.context.status === 404) return undefined;
      throw error;
    }
  }

  /** A few responses have no envelope. */
  async #send<T>(call: string, { body, timeoutMs, signal }: QdrantCall): Promise<T> {
    const { world, key, fetch = globalThis.fetch } = this.#address;
    const [method = '', path = ''] = call.split(' ');
    const overdue = new AbortController();
    const stop = world.setTimer(() => overdue.abort(), timeoutMs ?? limits.sink.callMs);
    try {
      const response = await fetch(`${this.#root}${path}`, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'api-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect would send the key and the text to another host.
        redirect: 'error',
        signal: AbortSignal.any([signal, overdue.signal]),
      });
      const text = await readText(response);
      if (!response.ok) throw refusalOf(call, { response, text, now: world.now() });
      return JSON.parse(text) as T;
    } catch (error) {
      // An interruption stays an interruption; a timeout is blamed on Qdrant.
      if (error instanceof Failure || signal.aborted) throw error;
      const message = `Qdrant cannot be reached, or closed the connection, at ${call}`;
      throw new Failure('qdrant_unavailable', message, { cause: error });
    } finally {
      stop();
    }
  }

  check(signal: AbortSignal): Promise<{ title?: string; version?: string }> {
    return this.#send('GET /', { signal, timeoutMs: limits.sink.searchMs });
  }
}

function readText({ body }: Response): Promise<string> {
  const { answerBytesMax } = limits.sink;
  const message = `Qdrant answered with more than ${answerBytesMax} bytes`;
  return readBoundedText(body, answerBytesMax, () => new Failure('qdrant_refused', message));
}

const codes: Readonly<Record<number, FailureCode>> = {
  408: 'qdrant_unavailable',
  429: 'rate_limited',
  502: 'qdrant_unavailable',
  503: 'qdrant_unavailable',
  504: 'qdrant_unavailable',
};

function refusalOf(
  call: string,
  { response, text, now }: { response: Response; text: string; now: number },
): Failure {
  const { status } = response;
  const retryAfterMs = boundedRetryAfterMs(response.headers.get('retry-after'), now);
  // A server that says when to come back is busy, not broken: that costs no retry.
  const isBusy = status === 503 && retryAfterMs !== undefined;
  const code = isBusy
    ? 'rate_limited'
    : (codes[status] ?? (status >= 500 ? 'qdrant_failed' : 'qdrant_refused'));
  const message = `Qdrant answered ${status} to ${call}: ${reasonOf(text)}`;
  return new Failure(code, message.slice(0, limits.sink.errorCharactersMax), {
    retryAfterMs,
    context: { status },
  });
}

function reasonOf(text: string): string {
  try {
    const { status } = JSON.parse(text) as { status?: { error?: string } };
    return status?.error ?? text;
  } catch {
    // A page from a proxy: shown as it is, shortened.
    return text;
  }
}
