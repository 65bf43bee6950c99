/**
 * What an operator is told of an outage. All that works in the background fails by it at every
 * turn: the first failure is told, then now and then that it lasts, and at last that it is over.
 */
import { type FailureCode, isOutage, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export type Probes = Partial<Record<FailureCode, () => Promise<unknown>>>;

export interface OutagesOptions {
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
  /** That it lasts, or is over: a sentence that quotes nothing. */
  readonly onOutage: (message: string) => void;
  /** They ask what was away whether it is back; where there is none, that nothing fails will do. */
  readonly probes: Probes;
}

interface Outage {
  readonly since: number;
  lastAt: number;
  toldAt: number;
  count: number;
  cancelLook: () => void;
}

export class Outages {
  readonly #options: OutagesOptions;
  readonly #open = new Map<FailureCode, Outage>();
  #isClosed = false;

  constructor(options: OutagesOptions) {
    this.#options = options;
  }

  readonly failed = (what: string, error: unknown): void => {
    const { code } = toFailure(error);
    const known = this.#open.get(code);
    if (known) {
      this.#goesOn(code, known);
      return;
    }
    if (isOutage(code) && !this.#isClosed) this.#begins(code);
    this.#options.onError(what, error);
  };

  close(): void {
    this.#isClosed = true;
    for (const { cancelLook } of this.#open.values()) cancelLook();
  }

  #begins(code: FailureCode): void {
    const now = this.#options.world.now();
    const cancelLook = (): void => undefined;
    const outage = { since: now, lastAt: now, toldAt: now, count: 1, cancelLook };
    this.#open.set(code, outage);
    this.#lookLater(code, outage);
  }

  #goesOn(code: FailureCode, outage: Outage): void {
    const now = this.#options.world.now();
    outage.lastAt = now;
    outage.count += 1;
    if (now - outage.toldAt < limits.outage.remindMs) return;
    outage.toldAt = now;
    const minutes = Math.round((now - outage.since) / 60_000);
    const deferred = `for ${minutes} minutes now, and ${outage.count} failures`;
    this.#options.onOutage(`${code} ${deferred}; all is tried again until it is over`);
  }

  #lookLater(code: FailureCode, outage: Outage): void {
    const look = (): void => void this.#look(code, outage);
    outage.cancelLook = this.#options.world.setTimer(look, limits.outage.lookMs);
  }

  async #look(code: FailureCode, outage: Outage): Promise<void> {
    const isOver = await this.#isOver(code, outage);
    if (this.#isClosed) return;
    if (!isOver) return this.#lookLater(code, outage);
    this.#open.delete(code);
    const { since, lastAt, count } = outage;
    const lasted = `after ${Math.ceil((lastAt - since) / 1000)} s and ${count} failures`;
    this.#options.onOutage(`${code} is over ${lasted}; all goes on`);
  }

  /** That nothing fails is not enough: whoever waits for an answer has not failed yet. */
  async #isOver(code: FailureCode, outage: Outage): Promise<boolean> {
    const { world, probes } = this.#options;
    const isQuiet = (): boolean => world.now() - outage.lastAt >= limits.outage.quietMs;
    if (!isQuiet()) return false;
    try {
      await probes[code]?.();
    } catch (error) {
      this.failed('probe', error);
      return false;
    }
    return isQuiet();
  }
}
