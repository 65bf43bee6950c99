/** Values cached for some seconds; the oldest are evicted first. */
import { limits } from '../../kernel/limits/limits.ts';

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

export class ShortCache<T> {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #underWay = new Map<string, Promise<T>>();
  #edition = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The cached value, else the result of `look`. If that fails, an expired value is used. */
  async get(key: string, look: () => Promise<T>): Promise<T> {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#now()) return entry.value;
    const underWay = this.#underWay.get(key) ?? this.#begin(key, look);
    try {
      return await underWay;
    } catch (error) {
      if (entry && this.#entries.has(key)) return entry.value;
      throw error;
    }
  }

  /** Drops everything read before now. */
  clear(): void {
    this.#edition += 1;
    this.#entries.clear();
    this.#underWay.clear();
  }

  #begin(key: string, look: () => Promise<T>): Promise<T> {
    const edition = this.#edition;
    const looking = look()
      .then((value) => {
        if (edition === this.#edition) this.#keep(key, value);
        return value;
      })
      .finally(() => {
        if (this.#underWay.get(key) === looking) this.#underWay.delete(key);
      });
    this.#underWay.set(key, looking);
    return looking;
  }

  #keep(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + limits.caller.cacheMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > limits.caller.cachedMax && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }
}
