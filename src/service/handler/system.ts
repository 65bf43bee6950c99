/** The workers and the current limits. */
import { listDomainStandings, listWorkerStandings } from '../../store/crawl/domains.ts';
import type { StoreHandlers, StoreService } from '../service.ts';

const domainsMax = 50;

export function systemRoutes({ database, embedder, world }: StoreService) {
  const later = (at: number): string | null =>
    at > world.now() ? new Date(at).toISOString() : null;
  return {
    'GET /system': async ({ caller: { callerId, shownId, tier } }) => {
      const workers = await listWorkerStandings(database);
      const domains = await listDomainStandings(database, { caller: callerId, limit: domainsMax });
      const pace = embedder.pace?.();
      return {
        workers: workers.map(({ worker, beatAt, items }) => ({
          worker,
          beat_at: new Date(beatAt).toISOString(),
          items,
        })),
        domains: domains.map((row) => ({
          domain: row.domain,
          at_once: row.concurrency,
          interval_ms: row.intervalMs,
          next_at: later(row.nextAt),
          reading: row.held,
          waiting: row.waiting,
        })),
        providers: pace
          ? [
              {
                provider: pace.provider,
                requests_per_minute: pace.requestsPerMinute,
                requests_left: Math.floor(pace.requestsLeft),
                tokens_per_minute: pace.tokensPerMinute,
                tokens_left: Math.floor(pace.tokensLeft),
                closed_until: later(pace.closedUntil),
              },
            ]
          : [],
        caller: { caller_id: shownId, tier },
      };
    },
  } satisfies Partial<StoreHandlers>;
}
