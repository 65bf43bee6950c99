/**
 * A world whose clock stands still until a test moves it. Work runs in real turns of the event
 * loop; time passes only in `advance` and `until`, which jump from timer to timer and let
 * everything settle in between. A backoff of minutes costs a test nothing.
 */
import { limits } from '../../src/kernel/limits/limits.ts';
import type { World } from '../../src/kernel/world.ts';
import type { Database } from '../../src/store/driver/database.ts';

interface Timer {
  readonly run: () => void;
  readonly dueAt: number;
}

/** This many consecutive turns without running work count as settled. */
const quietTurns = 3;
const longestMs = 48 * 60 * 60 * 1000;

export class TestWorld implements World {
  /** The value of `random`: the middle by default. */
  chance = 0.5;
  readonly #timers = new Set<Timer>();
  #now = Date.UTC(2030, 0, 1);
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];
  #uuids = 0;

  now(): number {
    return this.#now;
  }

  setTimer(run: () => void, delayMs: number): () => void {
    if (delayMs === limits.sweep.pauseMs) return this.#afterRealTime(run, delayMs);
    const timer = { run, dueAt: this.#now + Math.max(0, delayMs) };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** A sweep waits for transactions of others, which take real time. A command may wait for it. */
  #afterRealTime(run: () => void, delayMs: number): () => void {
    this.#underWay++;
    let end = (): void => {
      end = () => undefined;
      clearTimeout(timer);
      this.#end();
    };
    const timer = setTimeout(() => {
      end();
      run();
    }, delayMs);
    return () => end();
  }

  afterTurn(run: () => void): void {
    this.#underWay++;
    setImmediate(() => {
      this.#end();
      run();
    });
  }

  random(): number {
    return this.chance;
  }

  uuid(): string {
    this.#uuids++;
    return `00000000-0000-4000-8000-${this.#uuids.toString(16).padStart(12, '0')}`;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** The same database with this world's clock, awaited by `settle`. */
  watch(database: Database): Database {
    return {
      dialect: database.dialect,
      commitsMax: database.commitsMax,
      run: (statement, parameters) => this.track(database.run(statement, parameters)),
      write: (work) => this.track(database.write(work)),
      get early() {
        return this;
      },
      flushed: () => database.flushed(),
      now: () => this.#now,
      measureClock: async () => undefined,
      close: () => database.close(),
    };
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.#underWay++;
    return work.finally(() => this.#end());
  }

  /** Resolves when no work is running that would end without time passing. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; ) {
      await turn();
      quiet = this.#underWay === 0 ? quiet + 1 : 0;
      if (quiet === 0) await this.#rest();
    }
  }

  /** Resolves when no work is running. Polling would keep a core busy. */
  #rest(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  #end(): void {
    this.#underWay--;
    if (this.#underWay > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Lets this much time pass, with everything that happens in it. */
  async advance(durationMs: number): Promise<void> {
    const end = this.#now + durationMs;
    await this.settle();
    while (this.#fireNext(end)) await this.settle();
    this.#now = end;
  }

  /** Lets time pass until the condition holds. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const end = this.#now + longestMs;
    for (;;) {
      await this.settle();
      if (await condition()) return;
      if (!this.#fireNext(end)) throw new Error(`waited in vain for ${what}`);
    }
  }

  /** Moves only the clock: due timers are late, as after a sleep of the machine. */
  skip(durationMs: number): void {
    this.#now += durationMs;
  }

  #fireNext(end: number): boolean {
    let dueAt = Number.POSITIVE_INFINITY;
    for (const timer of this.#timers) dueAt = Math.min(dueAt, timer.dueAt);
    if (dueAt > end) return false;
    this.#now = Math.max(this.#now, dueAt);
    for (const timer of [...this.#timers]) {
      if (timer.dueAt > dueAt || !this.#timers.delete(timer)) continue;
      timer.run();
    }
    return true;
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export interface Latch {
  readonly opened: Promise<void>;
  open(): void;
}

/** Opened by a test and awaited by a step; or the other way round. */
export function makeLatch(): Latch {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
