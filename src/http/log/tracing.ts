/** Spans of requests, steps and model calls, from data that the service has anyway. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { World } from '../../kernel/world.ts';
import {
  type ModelCall,
  readTraceParent,
  type Span,
  spanIdOf,
  type Trace,
  traceOfJob,
} from '../../observe/trace.ts';
import type { PublishedEvent } from '../../service/stream/news.ts';

export function requestSpan(request: FastifyRequest, reply: FastifyReply, now: number): Span {
  const { method, routeOptions, id, headers } = request;
  const route = routeOptions.url ?? 'unknown';
  const given = headers.traceparent;
  const parent = readTraceParent(Array.isArray(given) ? undefined : given);
  const startMs = now - reply.elapsedTime;
  return {
    traceId: parent?.traceId ?? traceOfJob(`request:${id}:${startMs}`),
    spanId: spanIdOf('request', id, startMs),
    parentId: parent?.parentId,
    name: `${method} ${route}`,
    kind: 'server',
    startMs,
    endMs: now,
    isFailed: reply.statusCode >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': reply.statusCode,
      'pawl.request_id': id,
      'pawl.caller_id': request.caller?.shownId,
    },
  };
}

/** Covers all steps that this process ran, also for jobs that another process accepted. */
export function stepSpans(published: readonly PublishedEvent[], worker: string): Span[] {
  return published.flatMap(({ event, jobKey }) => {
    const { kind, step, at, detail = {}, seq, itemId, attempt } = event;
    const isFailed = kind === 'step_failed';
    if ((kind !== 'step_completed' && !isFailed) || event.worker !== worker) return [];
    if (jobKey === null || typeof step !== 'string') return [];
    const attributes = {
      'pawl.job_id': jobKey,
      'pawl.item_id': itemId,
      'pawl.step': step,
      'pawl.attempt': attempt,
      'pawl.code': isFailed ? String(detail.code) : undefined,
    };
    return {
      traceId: traceOfJob(jobKey),
      spanId: spanIdOf(jobKey, seq),
      name: `step ${step}`,
      kind: 'internal',
      startMs: at - Number(detail.duration_ms ?? 0),
      endMs: at,
      isFailed,
      attributes,
    } as const;
  });
}

export function traceCalls(trace: Trace, world: World): (call: ModelCall) => void {
  return ({ operation, model, texts, tokens, tokensOut, startMs, endMs, isFailed }) => {
    const id = world.uuid();
    trace({
      traceId: traceOfJob(id),
      spanId: spanIdOf(id),
      name: operation,
      kind: 'client',
      startMs,
      endMs,
      isFailed,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.request.model': model,
        'gen_ai.usage.input_tokens': tokens,
        'gen_ai.usage.output_tokens': tokensOut,
        'pawl.texts': texts,
      },
    });
  };
}
