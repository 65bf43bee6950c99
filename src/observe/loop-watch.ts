/**
 * Watches the event loop. While something blocks it, no request is answered, no lease is renewed
 * and no timeout is noticed. A late timer shows that it was blocked; the CPU time of the thread
 * tells whether Pawl computed or the machine did not let it run. Recent activities are kept in a
 * short list of names, at negligible cost, so that the log can name the cause.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

/** `work`: this thread computed all the time. `wait`: it could not run, or was blocked. */
export type StallCause = 'work' | 'wait';

export interface Stall {
  readonly cause: StallCause;
  readonly ms: number;
  readonly cpuMs: number;
  /** Activities that began during the stall, or last before it; the newest last. */
  readonly activities: readonly string[];
}

export interface LoopWatchOptions {
  readonly world: World;
  /** In milliseconds, both. */
  readonly clock?: () => number;
  readonly cpu?: () => number;
}

interface Begun {
  readonly name: string;
  readonly at: number;
}

const rememberedMax = 8;

export class LoopWatch {
  readonly #options: Required<LoopWatchOptions>;
  readonly #begun: Begun[] = [];
  readonly #listeners: ((stall: Stall) => void)[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: LoopWatchOptions) {
    this.#options = { clock: () => performance.now(), cpu: threadCpuMs, ...options };
  }

  /** Records what begins now. */
  readonly begin = (name: string): void => {
    if (this.#begun.length === rememberedMax) this.#begun.shift();
    this.#begun.push({ name, at: this.#options.clock() });
  };

  listen(listener: (stall: Stall) => void): void {
    this.#listeners.push(listener);
  }

  start(): void {
    const { world, clock, cpu } = this.#options;
    let [at, used] = [clock(), cpu()];
    const look = (): void => {
      const [now, usedNow] = [clock(), cpu()];
      this.#judge({ from: at, ms: now - at - limits.loop.stallLookMs, cpuMs: usedNow - used });
      [at, used] = [now, usedNow];
      this.#cancel = world.setTimer(look, limits.loop.stallLookMs);
    };
    this.#cancel = world.setTimer(look, limits.loop.stallLookMs);
  }

  stop(): void {
    this.#cancel?.();
  }

  #judge({ from, ms, cpuMs }: { from: number; ms: number; cpuMs: number }): void {
    if (ms <= limits.loop.stallMs) return;
    const during = this.#begun.filter(({ at }) => at >= from);
    const shown = during.length > 0 ? during : this.#begun.slice(-1);
    const activities = [...new Set(shown.map(({ name }) => name))];
    const cause = cpuMs > limits.loop.stallMs ? 'work' : 'wait';
    const stall = { cause, ms: Math.round(ms), cpuMs: Math.round(cpuMs), activities } as const;
    for (const listener of this.#listeners) listener(stall);
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Logs stalls caused by our own work: the first immediately, then one line a minute for all. */
export function stallLog(world: World, warn: (message: string) => void): (stall: Stall) => void {
  let nextAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return ({ cause, ms, cpuMs, activities }) => {
    if (cause === 'wait') return;
    if (world.now() < nextAt) {
      unsaid += 1;
      return;
    }
    const others = unsaid === 0 ? '' : `, ${unsaid} more since the last such line`;
    const begun = activities.length === 0 ? 'unknown' : activities.join(', ');
    warn(`the event loop was blocked for ${ms} ms (CPU ${cpuMs} ms): ${begun}${others}`);
    nextAt = world.now() + limits.loop.stallLogMs;
    unsaid = 0;
  };
}
