/**
 * Requests that arrive together would run one after the other in the same turn of the event loop,
 * and hold it for the sum of their times. Here they take turns, in order of arrival: as many as fit
 * into a slice of time run, then everything else that is ready.
 */
import { limits } from '../kernel/limits/limits.ts';

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isScheduled) return;
      this.#isScheduled = true;
      setImmediate(() => this.#release(performance.now()));
    });
  }

  #release(startedAt: number): void {
    this.#waiting.shift()?.();
    // Not before the caller has run up to its first wait: promises come before ticks.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#waiting.length === 0) this.#isScheduled = false;
        else if (performance.now() - startedAt < limits.loop.sliceMs) this.#release(startedAt);
        else setImmediate(() => this.#release(performance.now()));
      }),
    );
  }
}
