/**
 * The client that a worker in another process uses to reach the orchestrator: signed, over HTTP.
 */
import { readBoundedText } from '../../concurrency/bounded.ts';
import { Failure, type FailureCode, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Begun, Completed, OrchestratorClient } from '../orchestrator/callbacks.ts';
import type { Json } from '../request.ts';
import { signedHeaders } from '../signature.ts';
import { CallBatches } from './call-batches.ts';

export interface LinkOptions {
  readonly url: string;
  readonly key: string;
  readonly world: World;
  readonly fetch?: typeof fetch | undefined;
}

/** Throws a transient failure if the service is away, and a fatal one if it refuses. */
export type Post = (path: string, body: Json, signal?: AbortSignal) => Promise<Json>;

/** Signed requests to a Pawl service. `what` names it in messages. */
export function servicePost({ url, key, world, fetch = globalThis.fetch }: LinkOptions): Post {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/+$/, '');
  return async (path, value, signal) => {
    const body = JSON.stringify(value);
    const whole = `${prefix}${path}`;
    const deadline = AbortSignal.timeout(limits.handoff.callMs);
    try {
      const response = await fetch(`${origin}${whole}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          // A gateway may add a path prefix that the service does not see.
          ...signedHeaders(key, { method: 'POST', path, body }, world.now()),
        },
        body,
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
      const text = await readText(response, origin);
      if (response.ok) return JSON.parse(text) as Json;
      throw refusal(response, text, origin);
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof Failure ? error : unheard(error, origin);
    }
  };
}

function readText({ body }: Response, origin: string): Promise<string> {
  const { bodyBytesMax } = limits.handoff;
  const message = `${origin} answered with more than ${bodyBytesMax} bytes`;
  return readBoundedText(body, bodyBytesMax, () => new Failure('payload_too_large', message));
}

/** No response, half of one, or a page of a proxy: the service is not reachable. */
function unheard(error: unknown, origin: string): Failure {
  const { message } = toFailure(error);
  return new Failure('network_error', `${origin} gave no valid response: ${message}`, {
    cause: error,
  });
}

const codeOfStatus: Readonly<Record<number, FailureCode>> = {
  401: 'provider_auth',
  403: 'provider_auth',
  404: 'job_unknown',
  408: 'timeout_soft',
  413: 'payload_too_large',
  429: 'rate_limited',
  502: 'provider_unavailable',
  503: 'provider_unavailable',
  504: 'timeout_soft',
};

function refusal({ status, headers }: Response, text: string, origin: string): Failure {
  const code = codeOfStatus[status] ?? (status >= 500 ? 'service_failed' : 'bad_request');
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const message = `${origin} answered ${status}: ${detailOf(text)}`;
  return new Failure(code, message, { retryAfterMs });
}

function detailOf(text: string): string {
  const shown = text.slice(0, limits.handoff.messageCharactersMax);
  try {
    return String((JSON.parse(text) as Json).detail ?? shown);
  } catch {
    return shown; // A gateway's own page.
  }
}

export function orchestratorLink(options: LinkOptions): OrchestratorClient {
  const calls = new CallBatches(servicePost(options), options.world);
  return {
    async begin(job, handoff, worker, isAlone) {
      const body = { handoff, worker, ...(isAlone && { alone: true }) };
      const answer = await orGone(calls.send({ job_id: job, begin: body }));
      if (answer?.status === 'alone') {
        return { status: 'alone', uptimeMs: Number(answer.uptime_ms) };
      }
      if (answer?.status !== 'begun') return { status: 'gone' };
      const { bytes, ...begun } = answer;
      const decoded = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined;
      return { ...begun, bytes: decoded } as Begun;
    },
    async beat(job, { handoff, epoch, progress, isLeaving }) {
      const extra = { ...(progress && { progress }), ...(isLeaving && { leaving: true }) };
      const heartbeat = { handoff, epoch, ...extra };
      return (await orGone(calls.send({ job_id: job, heartbeat })))?.status === 'ok';
    },
    async complete(job, { stage, handoff, epoch, value, bytes, failure }) {
      const body = {
        stage,
        status: failure ? 'failed' : 'success',
        ...(handoff !== undefined && { handoff, epoch }),
        ...(failure && {
          error_code: failure.code,
          error_message: failure.message,
          retry_after_ms: failure.retry_after_ms,
          tries: failure.tries,
          retry: failure.retry,
          context: failure.context,
        }),
        result: value ?? {},
        ...(bytes && { bytes: Buffer.from(bytes).toString('base64') }),
      };
      const answer = await orGone(calls.send({ job_id: job, complete: body }));
      return (answer ?? { status: 'already_advanced' }) as unknown as Completed;
    },
  };
}

/** Undefined if the job no longer exists. */
async function orGone(answer: Promise<Json>): Promise<Json | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'job_unknown') return undefined;
    throw error;
  });
}
