/**
 * The skeleton of every background loop: start, stop, runOnce; errors are reported and the loop
 * continues.
 */
import type { World } from '../kernel/world.ts';

export interface LoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  readonly world: World;
  readonly runOnce: () => Promise<void>;
  /** A failed loop tries again at its next turn; the error is reported. */
  readonly onError: (loop: string, error: unknown) => void;
}

export class Loop {
  readonly #options: LoopOptions;
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #isStopped = true;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStopped = false;
    this.#schedule();
  }

  /** Runs now; if a run is in progress, waits for that run. */
  runNow(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#cancel?.();
    try {
      await this.#options.runOnce();
    } catch (error) {
      this.#options.onError(this.#options.name, error);
    } finally {
      this.#running = undefined;
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#isStopped) return;
    const { world, intervalMs } = this.#options;
    this.#cancel = world.setTimer(() => void this.runNow(), intervalMs);
  }
}
