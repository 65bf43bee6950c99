/** The workers, the current limits, and the last hour. */
import { limits } from '../../kernel/limits/limits.ts';
import { listDomainStandings, listWorkerStandings } from '../../store/crawl/domains.ts';
import { readStoreBytes } from '../../store/driver/health.ts';
import type { Handlers, Service, StoreHandlers, StoreService } from '../service.ts';

const domainsMax = 50;

export function systemRoutes({ database, embedder, answerer, world }: StoreService) {
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
        answer_model: answerer?.model ?? null,
      };
    },
  } satisfies Partial<StoreHandlers>;
}

type HistoryParts = Pick<Service, 'about' | 'database' | 'embedder' | 'metrics'>;

/** Of this process only: other processes have their own. */
export function systemHistoryRoutes({ about, database, embedder, metrics }: HistoryParts) {
  return {
    'GET /system/history': async () => {
      const disk = await about.readDisk();
      return {
        version: about.version,
        model: embedder.model,
        store: { kind: database.dialect.name, bytes: await readStoreBytes(database) },
        disk: disk && { free_bytes: disk.freeBytes, total_bytes: disk.totalBytes },
        interval_seconds: limits.activity.intervalMs / 1000,
        readings: metrics.activity.read().map(({ at, counts, requests, searches }) => ({
          at: new Date(at).toISOString(),
          ...counts,
          request_ms: requests,
          search_ms: searches,
        })),
      };
    },
  } satisfies Partial<Handlers>;
}
