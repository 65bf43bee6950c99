/**
 * Keeps queues in sync with the requests on disk. A new request is queued immediately, in the order
 * of opening; a queue that has lost its messages is filled again; and periodically all open
 * requests are added once more. Adding is idempotent: a message may come twice, and none is missing
 * for long.
 */

import { Loop } from '../../engine/loop.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { nextTurn, type World } from '../../kernel/world.ts';
import type { Message, Queue } from '../../queue/queue.ts';

export interface OpenPage {
  readonly messages: readonly Message[];
  /** Where the next page begins; undefined after the last. */
  readonly next: number | undefined;
}

/** The requests on disk that wait for a worker. */
export interface OpenRequests {
  /** Requests of one queue, in the order of opening, after a position. */
  list(page: {
    readonly queue: string;
    readonly from: number;
    readonly limit: number;
  }): Promise<OpenPage>;
}

export interface RefillOptions {
  readonly queues: readonly Queue[];
  readonly requests: OpenRequests;
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

  /** Adds requests that are on disk, without waiting: the next fill repeats a failed add. */
  put(queue: string, messages: readonly Message[]): void {
    this.#lanes.get(queue)?.put(messages);
  }
}

type LaneOptions = Omit<RefillOptions, 'queues'> & { readonly queue: Queue };

/** One queue, and the messages on their way to it. */
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
      // They are on disk: a fill costs less than an unbounded list.
      this.#waiting = [];
      this.#isDue = true;
      return;
    }
    this.#waiting.push(...messages);
    this.#adding ??= this.#addAll().finally(() => {
      this.#adding = undefined;
    });
  }

  /** All messages of one turn together, then those that came meanwhile, in the order of opening. */
  async #addAll(): Promise<void> {
    await nextTurn(this.#options.world);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#run(() => this.#options.queue.add(batch));
    }
  }

  async #fillIfDue(): Promise<void> {
    const { queue, world } = this.#options;
    await this.#run(async () => {
      const isLost = await queue.beginFill();
      const isOld = world.now() - this.#filledAt >= limits.queue.refillMs;
      if (!isLost && !isOld && !this.#isDue) return;
      this.#isDue = false;
      await this.#fill();
      if (this.#stopping.signal.aborted) return;
      this.#filledAt = world.now();
      // A fill that began before the loss cannot know that this one repaired it.
      if (isLost) await queue.endFill();
    });
  }

  async #fill(): Promise<void> {
    const { queue, requests } = this.#options;
    const limit = limits.queue.refillPageMax;
    let from: number | undefined = 0;
    while (from !== undefined && !this.#stopping.signal.aborted) {
      const page: OpenPage = await requests.list({ queue: queue.name, from, limit });
      await queue.add(page.messages);
      from = page.next;
    }
  }

  /** A failed run is due again; an outage of the queue is reported once, not for every try. */
  async #run(run: () => Promise<void>): Promise<void> {
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
