/**
 * A queue within one process, in memory: for a service that is all of Pawl, and for tests. It keeps
 * the order in which messages were added. What it holds ends with the process; whoever asked still
 * has the question on disk, and is told by `beginFill` to ask again.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { type Outcome, retryMs, Turn } from './delivery-run.ts';
import type { ConsumeOptions, Consumer, Message, Queue, QueueTimes } from './queue.ts';

export interface EmbeddedQueueOptions {
  readonly name: string;
  readonly world: World;
  readonly times?: QueueTimes | undefined;
}

interface Held {
  readonly message: Message;
  attempt: number;
  /** Undefined: it waits. */
  turn?: Turn | undefined;
  cancelDelay?: (() => void) | undefined;
}

export class EmbeddedQueue implements Queue {
  readonly name: string;
  readonly #world: World;
  readonly #times: QueueTimes;
  readonly #held = new Map<string, Held>();
  readonly #ready = new Set<Held>();
  readonly #consumers = new Set<EmbeddedConsumer>();
  #fill: 'unknown' | 'begun' | 'whole' = 'unknown';
  #cancelFill: (() => void) | undefined;

  constructor({ name, world, times = limits.queue }: EmbeddedQueueOptions) {
    this.name = name;
    this.#world = world;
    this.#times = times;
  }

  async add(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      if (this.#held.has(message.id)) continue;
      if (this.#held.size >= limits.queue.embeddedMessagesMax) {
        throw new Failure('queue_full', `${this.#held.size} messages wait in ${this.name}`);
      }
      const held: Held = { message, attempt: 1 };
      this.#held.set(message.id, held);
      this.#ready.add(held);
    }
    this.#handOut();
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (held === undefined || held.turn !== undefined) continue;
      held.cancelDelay?.();
      this.#ready.delete(held);
      this.#held.delete(id);
    }
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const consumer = new EmbeddedConsumer(this.#world, options.places, (held) =>
      this.#begin(held, options),
    );
    this.#consumers.add(consumer);
    this.#handOut();
    return {
      stop: async (graceMs) => {
        this.#consumers.delete(consumer);
        await consumer.stop(graceMs);
      },
    };
  }

  async depth(): Promise<{ waiting: number; active: number }> {
    const active = [...this.#held.values()].filter(({ turn }) => turn !== undefined).length;
    return { waiting: this.#held.size - active, active };
  }

  async beginFill(): Promise<boolean> {
    if (this.#fill !== 'unknown') return false;
    this.#fill = 'begun';
    this.#cancelFill = this.#world.setTimer(() => {
      this.#fill = 'unknown';
    }, limits.queue.fillMs);
    return true;
  }

  async endFill(): Promise<void> {
    if (this.#fill !== 'begun') return;
    this.#fill = 'whole';
    this.#cancelFill?.();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop(0)));
    this.#consumers.clear();
    this.#cancelFill?.();
    for (const held of this.#held.values()) held.cancelDelay?.();
  }

  #handOut(): void {
    for (const held of this.#ready) {
      const consumer = [...this.#consumers].find(({ hasRoom }) => hasRoom);
      if (consumer === undefined) return;
      this.#ready.delete(held);
      consumer.take(held);
    }
  }

  /** The turn, and what is to be done at its end. */
  #begin(held: Held, consume: ConsumeOptions): { turn: Turn; ended: Promise<void> } {
    const { message, attempt } = held;
    const turn = new Turn({ message, attempt, consume, times: this.#times, world: this.#world });
    held.turn = turn;
    const ended = turn.outcome().then((outcome) => this.#settle(held, outcome));
    return { turn, ended: ended.finally(() => this.#world.afterTurn(() => this.#handOut())) };
  }

  #settle(held: Held, outcome: Outcome): void {
    held.turn = undefined;
    switch (outcome.do) {
      case 'finish':
        this.#held.delete(held.message.id);
        return;
      case 'again':
        this.#wait(held, outcome.afterMs);
        return;
      case 'fail':
        this.#wait(held, retryMs(held.attempt, this.#times, this.#world));
        held.attempt += 1;
        return;
      case 'abandon':
        this.#wait(held, 0);
        held.attempt += 1;
    }
  }

  #wait(held: Held, delayMs: number): void {
    held.cancelDelay = this.#world.setTimer(() => {
      held.cancelDelay = undefined;
      this.#ready.add(held);
      this.#handOut();
    }, delayMs);
  }
}

class EmbeddedConsumer {
  readonly #world: World;
  readonly #places: number;
  readonly #begin: (held: Held) => { turn: Turn; ended: Promise<void> };
  readonly #running = new Map<Turn, Promise<void>>();

  constructor(
    world: World,
    places: number,
    begin: (held: Held) => { turn: Turn; ended: Promise<void> },
  ) {
    this.#world = world;
    this.#places = places;
    this.#begin = begin;
  }

  get hasRoom(): boolean {
    return this.#running.size < this.#places;
  }

  take(held: Held): void {
    const { turn, ended } = this.#begin(held);
    this.#running.set(
      turn,
      ended.finally(() => this.#running.delete(turn)),
    );
  }

  async stop(graceMs: number): Promise<void> {
    const cancel = this.#world.setTimer(() => {
      for (const turn of this.#running.keys()) turn.stop();
    }, graceMs);
    await Promise.all(this.#running.values());
    cancel();
  }
}
