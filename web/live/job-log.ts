/**
 * The event log of a job, newest first, and of one of its documents. A refresh reads what is newer
 * than the newest known event, so a broken connection causes neither gaps nor duplicates.
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Event } from '../../src/contract/schema/schema.ts';
import { useWorkbench } from '../workbench.ts';

export interface JobLog {
  /** Newest first. */
  readonly events: readonly Event[];
  readonly hasOlder: boolean;
}

const perPage = 1000;
/** With more new events than this, the log starts again at its newest end. */
const newerPagesMax = 4;

export function useJobLog(jobId: string) {
  const { client, queries } = useWorkbench();
  const queryKey = ['job', jobId, 'log'];
  const readBefore = async (before: number, signal?: AbortSignal): Promise<JobLog> => {
    const query = { before, limit: perPage };
    const page = await client().ask('GET /jobs/:id/events', {
      params: { id: jobId },
      query,
      signal,
    });
    return { events: page.items, hasOlder: page.has_more };
  };
  const readAfter = async (known: JobLog, signal: AbortSignal): Promise<JobLog | undefined> => {
    let events = known.events;
    for (let pages = 0; pages < newerPagesMax; pages += 1) {
      const page = await client().ask('GET /jobs/:id/events', {
        params: { id: jobId },
        query: { after: events[0]?.seq ?? 0, limit: perPage },
        signal,
      });
      events = [...page.items.toReversed(), ...events];
      if (!page.has_more) return { ...known, events };
    }
    return undefined;
  };
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<JobLog> => {
      const known = queries.getQueryData<JobLog>(queryKey);
      const grown = known && (await readAfter(known, signal));
      return grown ?? readBefore(Number.MAX_SAFE_INTEGER, signal);
    },
    structuralSharing: false,
  });
  const older = useMutation({
    mutationFn: (before: number) => readBefore(before),
    onSuccess: (page, before) =>
      queries.setQueryData<JobLog>(queryKey, (now) => {
        // A refresh in the meantime may have started again at the newest end.
        if (now?.events.at(-1)?.seq !== before) return now;
        return { events: [...now.events, ...page.events], hasOlder: page.hasOlder };
      }),
  });
  const oldest = query.data?.events.at(-1)?.seq;
  const readOlder = (): void => {
    if (query.data?.hasOlder && oldest !== undefined && !older.isPending) older.mutate(oldest);
  };
  return { ...query, readOlder };
}

/** The complete history of one document, oldest first. */
export function useItemLog(itemId: number) {
  const { client, queries } = useWorkbench();
  const queryKey = ['item', itemId, 'log'];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<readonly Event[]> => {
      const events = [...(queries.getQueryData<readonly Event[]>(queryKey) ?? [])];
      for (let hasMore = true; hasMore; ) {
        const page = await client().ask('GET /items/:id/events', {
          params: { id: String(itemId) },
          query: { after: events.at(-1)?.seq ?? 0, limit: perPage },
          signal,
        });
        events.push(...page.items);
        hasMore = page.has_more;
      }
      return events;
    },
    structuralSharing: false,
  });
}
