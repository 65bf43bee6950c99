/**
 * Keeps a loop of unknown length from blocking the event loop: after a slice of time, it yields to
 * everything that is ready.
 */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../kernel/limits/limits.ts';

export class TimeSlice {
  #startedAt = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#startedAt > limits.loop.sliceMs;
  }

  /** Await it only when the slice is over: an await costs more than most iterations. */
  async next(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }
}
