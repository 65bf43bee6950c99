/**
 * Checks whether the queues have capacity for a submission. They are counted at intervals; what
 * this process has accepted since the last count is added, so that bursts are noticed.
 */
import { backpressure } from '../access/limit/backpressure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export interface QueueCapacityOptions {
  /** The current queue length. */
  readonly count: () => Promise<number>;
  readonly world: World;
  readonly max?: number | undefined;
}

export class QueueCapacity {
  readonly #countNow: () => Promise<number>;
  readonly #world: World;
  /** The maximum queue length. */
  readonly max: number;
  #counted = { depth: 0, at: Number.NEGATIVE_INFINITY };
  #counting: Promise<void> | undefined;

  constructor(options: QueueCapacityOptions) {
    this.#countNow = options.count;
    this.#world = options.world;
    this.max = options.max ?? limits.rate.queueDepthMax;
  }

  /** Throws `queue_full`, with the time to wait, if the queue is full. */
  async check(): Promise<void> {
    if (this.#world.now() - this.#counted.at >= limits.rate.queueCountAgeMsMax) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined;
      });
      await this.#counting;
    }
    const refusal = backpressure(this.#counted.depth, this.max);
    if (refusal) throw refusal;
  }

  accepted(items: number): void {
    this.#counted = { ...this.#counted, depth: this.#counted.depth + items };
  }

  async #count(): Promise<void> {
    const at = this.#world.now();
    this.#counted = { depth: await this.#countNow(), at };
  }
}
