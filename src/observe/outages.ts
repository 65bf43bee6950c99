/**
 * Outage reports for operators. During an outage every background loop fails at every turn: the
 * first failure is reported, then now and then that it lasts, and finally that it is over.
 */
import { type FailureCode, isOutage, toFailure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export type Probes = Partial<Record<FailureCode, () => Promise<unknown>>>;

export interface OutagesOptions {
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
  /** Reports that it lasts or has ended: a sentence without quoted input. */
  readonly onOutage: (message: string) => void;
  /** Probes check whether a service is back; without one, the absence of failures counts. */
  readonly probes: Probes;
}

interface Outage {
  readonly since: number;
  lastAt: number;
  reportedAt: number;
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
    const outage = { since: now, lastAt: now, reportedAt: now, count: 1, cancelLook };
    this.#open.set(code, outage);
    this.#lookLater(code, outage);
  }

  #goesOn(code: FailureCode, outage: Outage): void {
    const now = this.#options.world.now();
    outage.lastAt = now;
    outage.count += 1;
    if (now - outage.reportedAt < limits.outage.remindMs) return;
    outage.reportedAt = now;
    const minutes = Math.round((now - outage.since) / 60_000);
    const deferred = `for ${minutes} minutes now, and ${outage.count} failures`;
    this.#options.onOutage(`${code} ${deferred}; work is retried until it ends`);
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
    this.#options.onOutage(`${code} ended ${lasted}; work continues`);
  }

  /** The absence of failures is not enough: a call that still waits has not failed yet. */
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
