/** What an outage of the store or of a sink is told to, and how it is known to be over. */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { Outages, type OutagesOptions } from '../observe/outages.ts';
import type { Sink } from '../sink/sink.ts';
import type { Database } from '../store/driver/database.ts';

type OutageListeners = Pick<OutagesOptions, 'onError' | 'onOutage'>;

interface OutageParts {
  readonly database: Database;
  readonly sinks: readonly Sink[];
  readonly world: World;
}

/** The store and the sinks are asked whether they are back. */
export function outagesOf(
  { onError = () => undefined, onOutage = () => undefined }: Partial<OutageListeners>,
  { database, sinks, world }: OutageParts,
): { readonly onError: OutagesOptions['onError']; endWatch(): void } {
  const checkOf = (name: string) => async () => {
    await sinks
      .find((sink) => sink.name === name)
      ?.check(AbortSignal.timeout(limits.sink.searchMs));
  };
  const probes = {
    store_busy: () => database.measureClock(),
    qdrant_unavailable: checkOf('qdrant'),
    neo4j_unavailable: checkOf('neo4j'),
  };
  const outages = new Outages({ onError, onOutage, probes, world });
  return { onError: outages.failed, endWatch: () => outages.close() };
}
