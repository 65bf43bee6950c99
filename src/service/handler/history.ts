/** Events: by cursor, and as streams. */

import { Failure } from '../../kernel/failure/failure.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { isFinal } from '../../kernel/lifecycle/machine.ts';
import { limits } from '../../kernel/limits/limits.ts';
import {
  listEvents,
  listEventsBefore,
  listEventsOfItem,
  newestOwn,
  newestSequence,
} from '../../store/delivery/events.ts';
import { listOwners } from '../../store/job/views.ts';
import type { Ask, Handlers, Service, StoreHandlers, StoreService } from '../service.ts';
import type { JobName } from '../stream/job-status-reader.ts';
import type { News } from '../stream/news.ts';
import { eventShape } from '../view/serializer.ts';
import { ownItem } from './inbox.ts';
import { ownJob } from './jobs.ts';

export function eventRoutes({ database }: StoreService) {
  return {
    'GET /jobs/:id/events': async ({ caller, params, query }) => {
      const { id: jobId, key } = await ownJob({ database }, caller.callerId, params.id);
      const { after, before, limit = limits.event.pageMax } = query;
      if (before !== undefined && after !== undefined) {
        throw new Failure('bad_request', 'use `after` or `before`, not both');
      }
      const events =
        before === undefined
          ? await listEvents(database, { jobId, after: after ?? 0, limit })
          : await listEventsBefore(database, { jobId, before, limit });
      return {
        items: events.map((event) => eventShape(event, key)),
        last_seq: events.at(-1)?.seq ?? after ?? 0,
        newest_seq: await newestOwn(database, { jobId }),
        has_more: events.length === limit,
      };
    },
    'GET /items/:id/events': async ({ caller, params, query }) => {
      const { id: itemId, job_id } = await ownItem({ database }, caller.callerId, params.id);
      const [owner] = await listOwners(database, [job_id]);
      const { after = 0, limit = limits.event.pageMax } = query;
      const events = await listEventsOfItem(database, { itemId, after, limit });
      return {
        items: events.map((event) => eventShape(event, owner?.key ?? null)),
        last_seq: events.at(-1)?.seq ?? after,
        newest_seq: await newestOwn(database, { itemId }),
        has_more: events.length === limit,
      };
    },
  } satisfies Partial<StoreHandlers>;
}

export function historyRoutes(service: Service, news: News) {
  const { database } = service;
  return {
    'GET /events': async ({ caller, query }) => {
      const { after = 0, limit = limits.event.pageMax } = query;
      const page = await news.read({ caller: caller.callerId, after, limit });
      return {
        items: page.published.map(({ event, jobKey }) => eventShape(event, jobKey)),
        last_seq: page.last,
        newest_seq: await newestOwn(database, { caller: caller.callerId }),
        has_more: page.isFull,
      };
    },
    'GET /jobs/:id/stream': async (ask) => {
      const caller = ask.caller.callerId;
      const { id: jobId, key, state } = await ownJob(service, caller, ask.params.id);
      const after = startOf(ask) ?? 0;
      if (isFinal(jobMachine, state)) {
        const [next] = await listEvents(database, { jobId, after, limit: 1 });
        if (!next) {
          // Browsers reconnect to a stream that ended, unless they get 204.
          void ask.reply.code(204).send();
          return undefined;
        }
      }
      openStream(service, ask, { job: { id: jobId, key }, after });
      return undefined;
    },
    'GET /stream': async (ask) => {
      openStream(service, ask, { after: startOf(ask) ?? (await newestSequence(database)) });
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

type StreamAsk = Pick<Ask<'GET /stream'>, 'caller' | 'query' | 'headers' | 'reply'>;

/** `Last-Event-ID` is sent by a reconnecting browser and wins over the query. */
function startOf({ headers, query }: StreamAsk): number | undefined {
  const text = headers['last-event-id'];
  if (text === undefined || text === '') return query.after;
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new Failure('bad_request', 'Last-Event-ID must be the number of an event');
}

function openStream(
  { streams, isDraining }: Service,
  { caller, reply }: StreamAsk,
  from: { job?: JobName; after: number },
): void {
  if (isDraining()) {
    const retryAfterMs = limits.event.streamRetryMs;
    throw new Failure('machine_busy', 'the service is shutting down', { retryAfterMs });
  }
  streams.checkCapacity(caller.callerId);
  const headers = Object.fromEntries(
    Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
  );
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(headers as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Asks proxies not to buffer the stream.
    'x-accel-buffering': 'no',
  });
  reply.raw.flushHeaders();
  streams.open({ caller: caller.callerId, ...from }, reply.raw);
}
