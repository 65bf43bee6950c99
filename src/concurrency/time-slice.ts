/**
 * For a loop on the event loop whose length strangers decide: after a slice of time, everything
 * else that is ready has its turn.
 */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../kernel/limits/limits.ts';

export class TimeSlice {
  #startedAt = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#startedAt > limits.loop.sliceMs;
  }

  /** Await it only when the slice is over: an await by itself costs more than most rounds. */
  async next(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
