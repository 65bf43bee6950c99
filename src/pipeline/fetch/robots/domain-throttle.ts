/** Reads the pages of one domain one after the other, with a politeness delay in between. */
import { limits } from '../../../kernel/limits/limits.ts';
import { pause, type World } from '../../../kernel/world.ts';

export class Turns {
  readonly #world: World;
  /** Resolves when the next page of a domain may be read. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(world: World) {
    this.#world = world;
  }

  take<T>(gate: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const result = (this.#turns.get(gate) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted();
      return read();
    });
    const rest = () => pause(this.#world, limits.fetch.domainIntervalMs);
    const next = result.then(rest, rest).finally(() => {
      if (this.#turns.get(gate) === next) this.#turns.delete(gate);
    });
    this.#turns.set(gate, next);
    return result;
  }
}
