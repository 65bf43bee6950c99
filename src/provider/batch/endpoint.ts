/**
 * A provider's HTTP interface: bounded in time and bytes, without redirects, and with the key sent
 * to the configured origin only. Returns JSON, lines, or a failure with a code.
 */
import { readBounded } from '../../concurrency/bounded.ts';
import { Failure, type FailureCode } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { JsonObject } from '../../kernel/provider-state.ts';
import { boundedRetryAfterMs } from '../../kernel/text/retry-after.ts';
import type { World } from '../../kernel/world.ts';

export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export type FetchLink = (
  url: URL,
  init: RequestInit & { readonly signal: AbortSignal },
) => Promise<Response>;

export interface EndpointOptions {
  readonly name: string;
  readonly url: string;
  /** Matches addresses of the provider itself, if `url` may be a proxy for it. */
  readonly home?: RegExp | undefined;
  readonly world: World;
  /** Returns the authentication headers. */
  readonly authorize: (request: OutgoingRequest) => Promise<Readonly<Record<string, string>>>;
  /** Fetches an address given by the provider; throws if the address is not allowed. */
  readonly fetchLink?: FetchLink | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface Sending {
  readonly method?: string;
  readonly body?: JsonObject | Uint8Array<ArrayBuffer> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export class Endpoint {
  readonly #options: EndpointOptions;
  readonly #root: URL;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#root = new URL(options.url);
  }

  get world(): World {
    return this.#options.world;
  }

  /** Requests one JSON object. */
  async json(path: string, sending: Sending): Promise<JsonObject> {
    const { text } = await this.text(path, sending);
    return parseObject(text, this.#options.name);
  }

  async text(path: string, sending: Sending): Promise<{ text: string; headers: Headers }> {
    return this.#within(limits.batch.callMs, sending.signal, async (signal) => {
      const response = await this.#send(this.at(path), { ...sending, signal }, true);
      const text = await this.#read(response, limits.batch.answerBytesMax);
      return { text, headers: response.headers };
    });
  }

  /**
   * The URL of a path, or of a link from the provider. A link to the provider's own host is
   * rewritten to the configured origin; keys are sent nowhere else.
   */
  at(path: string): URL {
    const { home } = this.#options;
    const local = home ? path.replace(home, '') : path;
    const url = /^https?:\/\//.test(local)
      ? new URL(local)
      : new URL(`${this.#root.href.replace(/\/$/, '')}${local}`);
    if (url.origin === this.#root.origin) return url;
    const message = `${this.#options.name} sent us to ${url.host}, where its key does not belong`;
    throw new Failure('provider_protocol_error', message);
  }

  /** A result from the provider itself, as a stream. */
  async *bytes(path: string, sending: Sending): AsyncGenerator<Uint8Array, void> {
    const { resultMs, resultSilenceMs } = limits.batch;
    const overdue = new AbortController();
    const abort = (): void => overdue.abort();
    const stop = this.world.setTimer(abort, resultMs);
    let stopSilence = this.world.setTimer(abort, resultSilenceMs);
    const signal = AbortSignal.any([sending.signal, overdue.signal]);
    try {
      const response = await this.#send(this.at(path), { ...sending, signal }, true);
      for await (const part of response.body ?? []) {
        // A large result may take long; only silence is limited.
        stopSilence();
        yield part;
        stopSilence = this.world.setTimer(abort, resultSilenceMs);
      }
    } catch (error) {
      throw this.#unavailable(error, sending.signal);
    } finally {
      stop();
      stopSilence();
    }
  }

  /** A result at another address, given by the provider. No key is sent. */
  async linked(link: string, signal: AbortSignal): Promise<JsonObject> {
    const url = this.#usable(link);
    return this.#within(limits.batch.resultMs, signal, async (bounded) => {
      const response = await this.#send(url, { signal: bounded }, false);
      const text = await this.#read(response, limits.batch.resultBytesMax);
      return parseObject(text, this.#options.name);
    });
  }

  /** Uploads bytes to an address given by the provider. No key is sent. */
  async put(link: string, sending: Sending): Promise<void> {
    const url = this.#usable(link);
    await this.#within(limits.batch.resultMs, sending.signal, async (signal) => {
      const response = await this.#send(url, { method: 'PUT', ...sending, signal }, false);
      await this.#read(response, limits.batch.answerBytesMax);
    });
  }

  #usable(link: string): URL {
    const url = URL.canParse(link) ? new URL(link) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) {
      throw new Failure('provider_protocol_error', `${this.#options.name} gave no usable link`);
    }
    return url;
  }

  async #within<T>(
    timeoutMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const overdue = new AbortController();
    const stop = this.world.setTimer(() => overdue.abort(), timeoutMs);
    try {
      return await work(AbortSignal.any([signal, overdue.signal]));
    } catch (error) {
      throw this.#unavailable(error, signal);
    } finally {
      stop();
    }
  }

  async #send(url: URL, sending: Sending, isOwn: boolean): Promise<Response> {
    const { authorize, fetch = globalThis.fetch, fetchLink = fetch } = this.#options;
    const isElsewhere = url.origin !== this.#root.origin;
    const { body, method = body === undefined ? 'GET' : 'POST', signal } = sending;
    const isBytes = body instanceof Uint8Array;
    const sent = body === undefined || isBytes ? body : JSON.stringify(body);
    const headers = {
      ...(sent !== undefined && !isBytes && { 'content-type': 'application/json' }),
      ...sending.headers,
    };
    const proof = isOwn ? await authorize({ method, url, headers, body: sent }) : {};
    const response = await (isElsewhere ? fetchLink : fetch)(url, {
      method,
      headers: { ...headers, ...proof },
      ...(sent !== undefined && { body: sent }),
      // A redirect would send the key or the document to another host.
      redirect: 'error',
      signal,
    });
    if (response.ok) return response;
    const text = await this.#read(response, limits.batch.answerBytesMax).catch(() => '');
    throw refusalOf({ name: this.#options.name, response, text, now: this.world.now() });
  }

  async #read(response: Response, bytesMax: number): Promise<string> {
    const tooLarge = `${this.#options.name}: an answer of more than ${bytesMax} bytes`;
    const refuse = () => new Failure('provider_protocol_error', tooLarge);
    const bytes = await readBounded(response.body, bytesMax, refuse);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch (error) {
      const message = `${this.#options.name} answered with something else than UTF-8`;
      throw new Failure('provider_protocol_error', message, { cause: error });
    }
  }

  #unavailable(error: unknown, signal: AbortSignal): unknown {
    if (error instanceof Failure || signal.aborted) return error;
    const message = `${this.#options.name} at ${this.#root.host} cannot be reached, or broke off`;
    return new Failure('provider_unavailable', message, { cause: error });
  }
}

export function parseObject(text: string, name: string): JsonObject {
  let cause: unknown;
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    if (value instanceof Object && !Array.isArray(value)) return value as JsonObject;
  } catch (error) {
    cause = error;
  }
  const message = `${name} answered with something else than a JSON object`;
  throw new Failure('provider_protocol_error', message, { cause });
}

const codes: Readonly<Record<number, FailureCode>> = {
  401: 'provider_auth',
  403: 'provider_auth',
  404: 'provider_rejected',
  408: 'provider_unavailable',
  410: 'provider_rejected',
  429: 'rate_limited',
};

const badRequest = 'provider_bad_request';
const quotaReasons = ['insufficient_quota', 'billing_hard_limit_reached'];

function refusalOf(refusal: {
  readonly name: string;
  readonly response: Response;
  readonly text: string;
  readonly now: number;
}): Failure {
  const { name, response, text, now } = refusal;
  const { status } = response;
  // AWS names the error in the body, with status 400 for nearly everything.
  const reason = reasonOf(text);
  const isThrottled = /Throttling|LimitExceeded|TooManyRequests/.test(reason.type);
  // An empty account is not a rate limit: the request fails until somebody pays.
  const isQuota = status === 429 && quotaReasons.includes(reason.type);
  const byStatus = codes[status] ?? (status >= 500 ? 'provider_unavailable' : badRequest);
  const code = isQuota ? 'provider_quota' : isThrottled ? 'rate_limited' : byStatus;
  const said = [reason.type, reason.message].filter(Boolean).join(': ');
  const message = `${name} answered ${status}${said && `: ${said}`}`;
  const retryAfterMs = boundedRetryAfterMs(response.headers.get('retry-after'), now);
  return new Failure(code, message.slice(0, limits.batch.errorCharactersMax), {
    retryAfterMs,
    context: { status, ...(reason.type && { reason: reason.type }) },
  });
}

function reasonOf(text: string): { readonly type: string; readonly message: string } {
  try {
    const body = JSON.parse(text) as JsonObject;
    const inner = (body.error instanceof Object ? body.error : body) as JsonObject;
    const type = String(inner.__type ?? inner.type ?? inner.code ?? '').replace(/^.*#/, '');
    const message = inner.message ?? inner.Message ?? '';
    return { type, message: typeof message === 'string' ? message : '' };
  } catch {
    // An error page of a proxy adds nothing to the status.
    return { type: '', message: '' };
  }
}
