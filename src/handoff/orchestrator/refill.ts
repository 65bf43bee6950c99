/**
 * Keeps queues in step with the questions on disk. What is asked goes on its queue at once, in the
 * order of asking; a queue that has lost what was in it is filled again; and from time to time all
 * that is open is added once more, whatever is known. Adding is idempotent, so that whoever is
 * unsure adds: a message may come twice, and none is missing for long.
 */

import { Loop } from '../../engine/loop.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { Message, Queue } from '../../queue/queue.ts';

export interface OpenPage {
  readonly messages: readonly Message[];
  /** Where the next page begins; undefined after the last. */
  readonly next: number | undefined;
}

/** The questions on disk that wait for a worker. */
export interface OpenRequests {
  /** Those of one queue, in the order of asking, from a place on. */
  list(page: {
    readonly queue: string;
    readonly from: number;
    readonly limit: number;
  }): Promise<OpenPage>;
}

export interface RefillOptions {
  readonly queues: readonly Queue[];
  readonly questions: OpenRequests;
  readonly world: World;
  readonly onError: (what: string, error: unknown) => void;
}

export class Refill {
  readonly #lanes: ReadonlyMap<string, Lane>;

  constructor({ queues, ...options }: RefillOptions) {
    this.#lanes = new Map(queues.map((queue) => [queue.name, new Lane({ ...options, queue })]));
  }

  start(): void {
    for (const lane of this.#lanes.values()) lane.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.stop()));
  }

  /** Questions that are on disk now. Nothing is waited for: what fails is left to the next fill. */
  put(queue: string, messages: readonly Message[]): void {
    this.#lanes.get(queue)?.put(messages);
  }
}

type LaneOptions = Omit<RefillOptions, 'queues'> & { readonly queue: Queue };

/** One queue, and what is on its way to it. */
class Lane {
  readonly #options: LaneOptions;
  readonly #loop: Loop;
  readonly #stopping = new AbortController();
  #waiting: Message[] = [];
  #adding: Promise<void> | undefined;
  #isDue = true;
  #filledAt = Number.NEGATIVE_INFINITY;
  #isAway = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    const { queue, world, onError } = options;
    this.#loop = new Loop({
      name: `refill of ${queue.name}`,
      intervalMs: limits.queue.fillCheckMs,
      world,
      onError,
      runOnce: () => this.#fillIfDue(),
    });
  }

  start(): void {
    this.#loop.start();
    void this.#loop.runNow();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    await this.#adding;
  }

  put(messages: readonly Message[]): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#waiting.length + messages.length > limits.queue.putsWaitingMax) {
      // They are on disk: a fill costs less than a list without end.
      this.#waiting = [];
      this.#isDue = true;
      return;
    }
    this.#waiting.push(...messages);
    this.#adding ??= this.#addAll().finally(() => {
      this.#adding = undefined;
    });
  }

  /** All of one turn together, then what came meanwhile: so the order of asking is kept. */
  async #addAll(): Promise<void> {
    await new Promise<void>((resolve) => this.#options.world.afterTurn(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#attempt(() => this.#options.queue.add(batch));
    }
  }

  async #fillIfDue(): Promise<void> {
    const { queue, world } = this.#options;
    await this.#attempt(async () => {
      const isLost = await queue.beginFill();
      const isOld = world.now() - this.#filledAt >= limits.queue.refillMs;
      if (!isLost && !isOld && !this.#isDue) return;
      this.#isDue = false;
      await this.#fill();
      if (this.#stopping.signal.aborted) return;
      this.#filledAt = world.now();
      // Whoever began before the loss does not know that it is made good.
      if (isLost) await queue.endFill();
    });
  }

  async #fill(): Promise<void> {
    const { queue, questions } = this.#options;
    const limit = limits.queue.refillPageMax;
    let from: number | undefined = 0;
    while (from !== undefined && !this.#stopping.signal.aborted) {
      const page: OpenPage = await questions.list({ queue: queue.name, from, limit });
      await queue.add(page.messages);
      from = page.next;
    }
  }

  /** What failed is due again; that a queue is away is told once, and not with every attempt. */
  async #attempt(run: () => Promise<void>): Promise<void> {
    const { queue, onError } = this.#options;
    try {
      await run();
      this.#isAway = false;
    } catch (error) {
      this.#isDue = true;
      if (!this.#isAway) onError(`refill of ${queue.name}`, error);
      this.#isAway = true;
    }
  }
}
