/**
 * The event log of a job. It is read on by its cursor, so a broken connection causes neither gaps
 * nor duplicates.
 */
import { useQuery } from '@tanstack/react-query';
import type { Event } from '../../src/contract/schema/schema.ts';
import { useWorkbench } from '../workbench.ts';

export interface JobLog {
  readonly events: readonly Event[];
  readonly after: number;
  readonly isCut: boolean;
}

const perPage = 1000;
export const eventsMax = 20_000;

export function useJobLog(jobId: string, isWanted: boolean) {
  const { client, queries } = useWorkbench();
  const queryKey = ['job', jobId, 'log'];
  return useQuery({
    queryKey,
    enabled: isWanted,
    queryFn: async ({ signal }): Promise<JobLog> => {
      const known = queries.getQueryData<JobLog>(queryKey);
      const events = [...(known?.events ?? [])];
      let after = known?.after ?? 0;
      for (let hasMore = true; hasMore && events.length < eventsMax; ) {
        const page = await client().ask('GET /jobs/:id/events', {
          params: { id: jobId },
          query: { after, limit: perPage },
          signal,
        });
        events.push(...page.items);
        after = page.last_seq;
        hasMore = page.has_more;
      }
      return { events, after, isCut: events.length >= eventsMax };
    },
    structuralSharing: false,
  });
}
