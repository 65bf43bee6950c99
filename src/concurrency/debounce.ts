/**
 * Turns bursts of events into single runs: a run begins after a quiet time, or after the longest
 * delay if it never gets quiet. Events during a run lead to one more run.
 */
import type { World } from '../kernel/world.ts';

export interface DebounceOptions {
  readonly world: Pick<World, 'now' | 'setTimer'>;
  readonly quietMs: number;
  readonly delayMsMax: number;
  /** Handles its own errors. */
  readonly run: () => Promise<void>;
}

export class Debounce {
  readonly #options: DebounceOptions;
  #firstAt: number | undefined;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: DebounceOptions) {
    this.#options = options;
  }

  /** Something has changed. */
  signal(): void {
    if (this.#isStopped) return;
    const { world, quietMs, delayMsMax } = this.#options;
    const now = world.now();
    this.#firstAt ??= now;
    if (this.#running) return;
    this.#cancel?.();
    const leftMs = Math.max(0, this.#firstAt + delayMsMax - now);
    this.#cancel = world.setTimer(() => this.#begin(), Math.min(quietMs, leftMs));
  }

  /** Waits for a run in progress; nothing runs after it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#running;
  }

  #begin(): void {
    this.#firstAt = undefined;
    this.#cancel = undefined;
    this.#running = this.#options.run().finally(() => {
      this.#running = undefined;
      if (this.#firstAt === undefined) return;
      this.#firstAt = undefined;
      this.signal();
    });
  }
}
