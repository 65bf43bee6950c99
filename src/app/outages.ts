/** Watches for outages of the store and of sinks: reported once, and probed until they end. */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { Outages, type OutagesOptions } from '../observe/outages.ts';
import type { Sink } from '../sink/sink.ts';
import type { Database } from '../store/driver/database.ts';

interface OutageParts {
  readonly database: Database;
  readonly sinks: readonly Sink[];
  readonly world: World;
}

export function watchOutages(
  options: Partial<Pick<OutagesOptions, 'onError' | 'onOutage'>>,
  { database, sinks, world }: OutageParts,
): Outages {
  const { onError = () => undefined, onOutage = () => undefined } = options;
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
  return new Outages({ onError, onOutage, probes, world });
}
