/** Responses kept within one process, for as long as in Redis and up to a size limit. */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { ResponseStore } from './response-store.ts';

interface Kept {
  readonly answer: string;
  readonly until: number;
}

export function memoryResponses(world: World): ResponseStore {
  const kept = new Map<string, Kept>();
  let characters = 0;
  const drop = (key: string): void => {
    characters -= kept.get(key)?.answer.length ?? 0;
    kept.delete(key);
  };
  return {
    read: async (key) => {
      const found = kept.get(key);
      return found && found.until > world.now() ? found.answer : undefined;
    },
    write: async (key, answer) => {
      const { keptCharactersMax, memoryCharactersMax, softMs } = limits.handoff;
      drop(key);
      if (answer.length > keptCharactersMax) return;
      kept.set(key, { answer, until: world.now() + softMs });
      characters += answer.length;
      // The oldest are evicted first.
      for (const [oldest, { until }] of kept) {
        if (until > world.now() && characters <= memoryCharactersMax) break;
        drop(oldest);
      }
    },
    remove: async (key) => drop(key),
    close: () => kept.clear(),
  };
}
