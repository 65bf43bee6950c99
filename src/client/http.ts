/**
 * A typed client of the HTTP API, for Node and browsers; it only needs `fetch`. Requests and
 * responses are typed by the contract, which is imported for its types only.
 */

import type { AnswerOf, Asked, BodyOf, RouteName } from '../contract/contract.ts';
import type { Attempt, Staged } from '../contract/operation/attempt.ts';
import type { AnswerEvent } from '../contract/schema/answer.ts';
import type { Event, Problem } from '../contract/schema/schema.ts';
import { Failure, isFailureCode, isRetried } from '../kernel/failure/failure.ts';
import type { Metadata } from '../kernel/metadata/metadata.ts';
import { type Sent, sentEvents } from './sent-events.ts';

export interface ClientOptions {
  /** The address of the service, such as `http://127.0.0.1:7300`. */
  readonly url: string;
  /** Sent as `X-API-Key`. */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
}

interface Plain {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export interface Upload {
  /** `default` where absent. */
  readonly corpus_name?: string | undefined;
  readonly files: readonly { readonly name: string; readonly blob: Blob }[];
  readonly priority?: number | undefined;
  readonly force?: boolean | undefined;
  readonly lane?: 'now' | 'cheap' | undefined;
  readonly budget_cents?: number | undefined;
  readonly max_wall_seconds?: number | undefined;
  /** Of all files. */
  readonly metadata?: Metadata | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Files and addresses to stage for the next attempt. */
export interface Staging {
  /** They are added to this corpus only. */
  readonly corpus_name?: string | undefined;
  readonly files?: readonly { readonly name: string; readonly blob: Blob }[];
  readonly urls?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface Following {
  /** One job. If absent, everything that belongs to the caller. */
  readonly jobId?: string | undefined;
  /** Only events after this one. If absent: a job from its start, everything else from now. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with progress within a step, which is not part of the history. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with the interactive attempt, which is not part of the history either. */
  readonly onAttempt?: ((news: AttemptNews) => void) | undefined;
}

export type AttemptNews =
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  | { readonly kind: 'attempt_source'; readonly source: Staged };

export interface Progress {
  readonly job_id: string;
  readonly item_id: number;
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

/** How often in a row a broken stream is reopened, and after which delay. */
const resumesMax = 8;
const resumeMsMin = 250;
const resumeMsMax = 5000;

export class Client {
  readonly #url: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof fetch;

  constructor({ url, key, fetch: own }: ClientOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#key = key;
    this.#fetch = own ?? globalThis.fetch.bind(globalThis);
  }

  /** Calls a route of the contract: `client.ask('GET /jobs/:id', { params: { id } })`. */
  async ask<Name extends RouteName>(name: Name, ...[asking]: Asked<Name>): Promise<AnswerOf<Name>> {
    const [method = 'GET', path = ''] = name.split(' ');
    const { body, signal, ...rest } = (asking ?? {}) as Plain;
    const response = await this.#send(addressOf(path, rest), {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...definedOf(rest.headers ?? {}),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    return read(response) as Promise<AnswerOf<Name>>;
  }

  /** The merged results of a batch task, as a stream of JSON bytes. */
  async batchOutput(id: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const path = `/batch/tasks/${encodeURIComponent(id)}/output`;
    const response = await this.#send(path, { method: 'GET', ...(signal && { signal }) });
    return response.body ?? new Blob([]).stream();
  }

  /** The original of a document, byte for byte, with its media type. */
  async original(id: string, signal?: AbortSignal): Promise<Blob> {
    const path = `/documents/${encodeURIComponent(id)}/raw`;
    return (await this.#send(path, { method: 'GET', ...(signal && { signal }) })).blob();
  }

  /** Submits files as one job. */
  async upload(upload: Upload): Promise<AnswerOf<'POST /jobs/upload'>> {
    const form = new FormData();
    if (upload.corpus_name !== undefined) form.set('corpus_name', upload.corpus_name);
    if (upload.force) form.set('force', 'true');
    if (upload.lane !== undefined) form.set('lane', upload.lane);
    if (upload.metadata) form.set('metadata', JSON.stringify(upload.metadata));
    for (const name of ['priority', 'budget_cents', 'max_wall_seconds'] as const) {
      if (upload[name] !== undefined) form.set(name, String(upload[name]));
    }
    for (const { name, blob } of upload.files) form.append('file', blob, name);
    const key = upload.idempotencyKey;
    const response = await this.#send('/jobs/upload', {
      method: 'POST',
      body: form,
      headers: key === undefined ? {} : { 'idempotency-key': key },
      ...(upload.signal && { signal: upload.signal }),
    });
    return read(response) as Promise<AnswerOf<'POST /jobs/upload'>>;
  }

  /** Stages files and addresses for the interactive attempt: all of them, or none. */
  async stage(staging: Staging): Promise<AnswerOf<'POST /staging'>> {
    const { corpus_name, files = [], urls = [], signal } = staging;
    const form = new FormData();
    if (corpus_name !== undefined) form.append('corpus_name', corpus_name);
    for (const { name, blob } of files) form.append('file', blob, name);
    for (const url of urls) form.append('url', url);
    const body = { method: 'POST', body: form, ...(signal && { signal }) };
    return read(await this.#send('/staging', body)) as Promise<AnswerOf<'POST /staging'>>;
  }

  /**
   * Yields events without gaps or duplicates. A broken connection is reopened at the last event.
   * The stream of a job ends with the job.
   */
  async *follow(following: Following = {}): AsyncGenerator<Event> {
    let { after } = following;
    for (let failures = 0; ; ) {
      let retryMs = Math.min(resumeMsMin * 2 ** failures, resumeMsMax);
      try {
        const response = await this.#openStream(following, after);
        if (response.status === 204) return;
        for await (const sent of sentEvents(response)) {
          failures = 0;
          retryMs = sent.retryMs ?? retryMs;
          const event = eventOf(sent, following);
          if (!event) continue;
          after = event.seq;
          yield event;
        }
      } catch (error) {
        if (following.signal?.aborted) return;
        failures += 1;
        if (error instanceof Failure) {
          if (!isRetried(error.code)) throw error;
          retryMs = Math.max(error.retryAfterMs ?? 0, retryMs);
        }
        if (failures > resumesMax) throw error;
      }
      await pause(retryMs, following.signal);
      if (following.signal?.aborted) return;
    }
  }

  /** An answer as it is written. A loop that ends early ends the request to the model. */
  async *answer(
    body: BodyOf<'POST /ask'>,
    signal?: AbortSignal,
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    const response = await this.#send('/ask', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
      ...(signal && { signal }),
    });
    for await (const { type, body: data } of sentEvents(response)) {
      if (type === 'problem') throw failureIn(JSON.parse(data));
      if (type === 'message') continue;
      const event = { event: type, data: JSON.parse(data) } as AnswerEvent;
      yield event;
      if (event.event === 'done') return;
    }
    throw new Failure('network_error', `${this.#url} ended in the middle of the answer`);
  }

  #openStream({ jobId, signal }: Following, after: number | undefined): Promise<Response> {
    const path = jobId === undefined ? '/stream' : `/jobs/${encodeURIComponent(jobId)}/stream`;
    const headers: Record<string, string> =
      after === undefined ? {} : { 'last-event-id': String(after) };
    return this.#send(path, { headers, ...(signal && { signal }) });
  }

  async #send(address: string, init: RequestInit): Promise<Response> {
    const key: Record<string, string> = this.#key === undefined ? {} : { 'x-api-key': this.#key };
    const headers = { ...key, ...(init.headers as Record<string, string>) };
    const response = await this.#fetch(`${this.#url}${address}`, { ...init, headers }).catch(
      (error: unknown) => {
        if (init.signal?.aborted) throw error;
        const message = `no response from ${this.#url}`;
        throw new Failure('network_error', message, { cause: error });
      },
    );
    if (response.ok) return response;
    throw await failureOf(response);
  }
}

function addressOf(path: string, { params = {}, query = {} }: Plain): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function definedOf(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = Object.entries(values).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return Object.fromEntries(pairs);
}

async function read(response: Response): Promise<unknown> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return isJson ? response.json() : response.text();
}

/**
 * A problem document becomes the failure that the service had. Anything else did not come from
 * Pawl.
 */
async function failureOf(response: Response): Promise<Failure> {
  const { status } = response;
  const text = await response.text();
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
  if (!isProblem) return new Failure('bad_response', `the service answered ${status}`);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return failureIn(JSON.parse(text) as Problem, {
    status,
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1000 }),
  });
}

function failureIn(
  { code, detail, request_id }: Pick<Problem, 'code' | 'detail' | 'request_id'>,
  { status, retryAfterMs }: { readonly status?: number; readonly retryAfterMs?: number } = {},
): Failure {
  return new Failure(isFailureCode(code) ? code : 'bad_response', detail, {
    context: { request_id, status },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function eventOf(sent: Sent, { onProgress, onAttempt }: Following): Event | undefined {
  const { type, body } = sent;
  if (body === '') return undefined;
  if (type === 'event') return JSON.parse(body);
  if (type === 'progress') onProgress?.(JSON.parse(body));
  if (type === 'attempt') onAttempt?.({ kind: type, attempt: JSON.parse(body) });
  if (type === 'attempt_source') onAttempt?.({ kind: type, source: JSON.parse(body) });
  return undefined;
}

function pause(timeMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, timeMs);
    signal?.addEventListener('abort', end, { once: true });
  });
}
