/**
 * Whether there is room in the queues for what somebody wants to submit. They are counted now and
 * then; what this process has accepted since is added, so that a rush between two counts is seen.
 */
import { backpressure } from '../access/limit/backpressure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';

export interface RoomOptions {
  /** How many wait now. */
  readonly count: () => Promise<number>;
  readonly world: World;
  readonly max?: number | undefined;
}

export class QueueRoom {
  readonly #countNow: () => Promise<number>;
  readonly #world: World;
  /** So many may wait. */
  readonly max: number;
  #counted = { depth: 0, at: Number.NEGATIVE_INFINITY };
  #counting: Promise<void> | undefined;

  constructor(options: RoomOptions) {
    this.#countNow = options.count;
    this.#world = options.world;
    this.max = options.max ?? limits.rate.queueDepthMax;
  }

  /** Throws `queue_full`, with the time to wait, where there is none. */
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
