/** The handle of a job: its events, its result, and its commands. */
import { limits } from '../kernel/limits/limits.ts';
import type { JobRow } from '../store/job/jobs.ts';
import { closedFailure } from './call/lifetime.ts';
import { listOf } from './call/list.ts';
import { checkNames } from './call/names.ts';
import { eventsIn } from './event-views.ts';
import type { SignalOptions } from './options.ts';
import type { Session } from './session.ts';
import type { Job } from './surface.ts';

export function jobHandle(session: Session, row: JobRow, isResumed = false): Job {
  const { key: id, corpus } = row;
  const { calls, lifetime, events } = session;
  const params = { id };
  const summary = (given: SignalOptions = {}) =>
    calls.call('GET /jobs/:id', { what: 'summary', params, given });
  return {
    id,
    corpus,
    isResumed,
    events: (options = {}) => eventsIn('events', options, () => events.ofJob(row, options)),
    history: (options = {}) => historyOf(session, id, options),
    summary,
    wait: async (options = {}) => {
      checkNames('wait', options, ['signal']);
      const { signal } = options;
      signal?.throwIfAborted();
      lifetime.check();
      await events.untilEnd(row, signal);
      signal?.throwIfAborted();
      if (lifetime.ending.aborted) throw closedFailure();
      return summary(options);
    },
    items: (given = {}) => calls.list('GET /jobs/:id/items', { what: 'items', params, given }),
    cancel: (given = {}) => calls.call('POST /jobs/:id/cancel', { what: 'cancel', params, given }),
    pause: async (given = {}) => {
      await calls.call('POST /jobs/:id/pause', { what: 'pause', params, given });
    },
    resume: async (given = {}) => {
      await calls.call('POST /jobs/:id/resume', { what: 'resume', params, given });
    },
    retry: async (given = {}) => {
      const asked = { what: 'retry', params, given };
      return (await calls.call('POST /jobs/:id/retry', asked)).itemsRetried ?? 0;
    },
  };
}

/** A page of the history ends at a number, which is the cursor of the next one. */
function historyOf(
  { calls }: Session,
  id: string,
  options: NonNullable<Parameters<Job['history']>[0]>,
): ReturnType<Job['history']> {
  checkNames('history', options, ['after', 'limit', 'signal']);
  const { after, ...range } = options;
  return listOf(
    async ({ limit, cursor }, signal) => {
      const given = { after: cursor === undefined ? after : Number(cursor), limit, signal };
      const asked = { what: 'history', params: { id }, given };
      const { items, lastSeq, hasMore } = await calls.call('GET /jobs/:id/events', asked);
      return { items, nextCursor: hasMore ? String(lastSeq) : null };
    },
    range,
    { pageMax: limits.event.pageMax },
  );
}
