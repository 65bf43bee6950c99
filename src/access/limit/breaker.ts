/**
 * A circuit breaker: after several consecutive failures no call is made for a time, then one call
 * probes, and its result decides. Calls started before the last state change decide nothing.
 */
import type { World } from '../../kernel/world.ts';

export type Circuit = 'closed' | 'open' | 'half_open';

export interface BreakerOptions {
  readonly failuresMax: number;
  readonly openMs: number;
  /** How long other calls are blocked during a probe. */
  readonly probeMs: number;
}

export class Breaker {
  readonly #world: World;
  readonly #options: BreakerOptions;
  #failures = 0;
  #openedAt: number | undefined;
  #isProbing = false;
  #epoch = 0;

  constructor(world: World, options: BreakerOptions) {
    this.#world = world;
    this.#options = options;
  }

  get circuit(): Circuit {
    if (this.#openedAt === undefined) return 'closed';
    return this.#coolingMs(this.#openedAt) > 0 ? 'open' : 'half_open';
  }

  /** How long calls are blocked; 0 if `run` may be called now. */
  waitMs(): number {
    if (this.#openedAt === undefined) return 0;
    return this.#coolingMs(this.#openedAt) || (this.#isProbing ? this.#options.probeMs : 0);
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#isProbing = this.#openedAt !== undefined;
    const epoch = this.#epoch;
    try {
      const result = await call();
      if (epoch === this.#epoch) this.#succeed();
      return result;
    } catch (error) {
      if (epoch === this.#epoch) this.#fail();
      throw error;
    }
  }

  /** A clock that was set back must not keep the circuit open. */
  #coolingMs(openedAt: number): number {
    const passedMs = this.#world.now() - openedAt;
    return passedMs < 0 ? 0 : Math.max(0, this.#options.openMs - passedMs);
  }

  #succeed(): void {
    this.#failures = 0;
    if (this.#openedAt !== undefined) this.#change(undefined);
  }

  #fail(): void {
    this.#failures += 1;
    const isOpen = this.#openedAt !== undefined;
    if (isOpen || this.#failures >= this.#options.failuresMax) this.#change(this.#world.now());
  }

  #change(openedAt: number | undefined): void {
    this.#openedAt = openedAt;
    this.#failures = 0;
    this.#isProbing = false;
    this.#epoch += 1;
  }
}
