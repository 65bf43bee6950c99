/**
 * Watches the event loop. While one thing holds it, nobody is answered, no lease is renewed and no
 * time limit is noticed. A timer that fires late shows that it was held; the CPU time of the thread
 * tells whether we worked or the machine did not let us run. What began last is noted in a list of
 * names, which costs next to nothing, so that the log can say what it was.
 */
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

/** `work`: this thread computed all the time. `wait`: it was kept from running, or blocked. */
export type StallCause = 'work' | 'wait';

export interface Stall {
  readonly cause: StallCause;
  readonly ms: number;
  readonly cpuMs: number;
  /** What began while the loop was held, or last before it; the newest last. */
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

  /** Notes what begins now. */
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
    const told = during.length > 0 ? during : this.#begun.slice(-1);
    const activities = [...new Set(told.map(({ name }) => name))];
    const cause = cpuMs > limits.loop.stallMs ? 'work' : 'wait';
    const stall = { cause, ms: Math.round(ms), cpuMs: Math.round(cpuMs), activities } as const;
    for (const listener of this.#listeners) listener(stall);
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Logs stalls in which we worked: the first at once, then one line a minute for all of them. */
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
    warn(`the event loop was held for ${ms} ms (CPU ${cpuMs} ms): ${begun}${others}`);
    nextAt = world.now() + limits.loop.stallLogMs;
    unsaid = 0;
  };
}
