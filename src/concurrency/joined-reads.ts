/**
 * Concurrent callers with the same key share one read. A read starts after all of its callers have
 * asked, so none of them sees an older state than that of its call; callers that come while it runs
 * share the next one.
 */
import { nextTurn, type World } from '../kernel/world.ts';

export class JoinedReads<T> {
  readonly #world: Pick<World, 'afterTurn'>;
  readonly #load: (key: string) => Promise<T>;
  /** Reads that have not started. */
  readonly #next = new Map<string, Promise<T>>();
  /** Settles when the last read that has started ends. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(world: Pick<World, 'afterTurn'>, load: (key: string) => Promise<T>) {
    this.#world = world;
    this.#load = load;
  }

  read(key: string): Promise<T> {
    const shared = this.#next.get(key);
    if (shared) return shared;
    const own = this.#start(key);
    this.#next.set(key, own);
    return own;
  }

  async #start(key: string): Promise<T> {
    await Promise.all([nextTurn(this.#world), this.#running.get(key)]);
    this.#next.delete(key);
    const result = this.#load(key);
    const ended = result.then(
      () => undefined,
      () => undefined,
    );
    this.#running.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#running.get(key) === ended) this.#running.delete(key);
    }
  }
}
