/**
 * An in-memory queue within one process, for a service that is all of Pawl, and for tests. It is
 * first in, first out. Its messages are lost when the process ends; the senders still have their
 * requests on disk, and `beginFill` asks them to send again.
 */
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { DeliveryRun, type Outcome, retryMs } from './delivery-run.ts';
import type { ConsumeOptions, Consumer, Message, Queue, QueueTimes } from './queue.ts';

export interface EmbeddedQueueOptions {
  readonly name: string;
  readonly world: World;
  readonly times?: QueueTimes | undefined;
}

interface QueuedMessage {
  readonly message: Message;
  attempt: number;
  /** Undefined while it waits. */
  run?: DeliveryRun | undefined;
  cancelDelay?: (() => void) | undefined;
}

export class EmbeddedQueue implements Queue {
  readonly name: string;
  readonly #world: World;
  readonly #times: QueueTimes;
  readonly #messages = new Map<string, QueuedMessage>();
  readonly #ready = new Set<QueuedMessage>();
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
      if (this.#messages.has(message.id)) continue;
      if (this.#messages.size >= limits.queue.embeddedMessagesMax) {
        throw new Failure('queue_full', `${this.#messages.size} messages wait in ${this.name}`);
      }
      const queued: QueuedMessage = { message, attempt: 1 };
      this.#messages.set(message.id, queued);
      this.#ready.add(queued);
    }
    this.#handOut();
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const queued = this.#messages.get(id);
      if (queued === undefined || queued.run !== undefined) continue;
      queued.cancelDelay?.();
      this.#ready.delete(queued);
      this.#messages.delete(id);
    }
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const consumer = new EmbeddedConsumer(this.#world, options.places, (queued) =>
      this.#begin(queued, options),
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
    const active = [...this.#messages.values()].filter(({ run }) => run !== undefined).length;
    return { waiting: this.#messages.size - active, active };
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
    for (const queued of this.#messages.values()) queued.cancelDelay?.();
  }

  #handOut(): void {
    for (const queued of this.#ready) {
      const consumer = [...this.#consumers].find(({ hasRoom }) => hasRoom);
      if (consumer === undefined) return;
      this.#ready.delete(queued);
      consumer.take(queued);
    }
  }

  /** The run, and a promise that handles its end. */
  #begin(
    queued: QueuedMessage,
    consume: ConsumeOptions,
  ): { run: DeliveryRun; ended: Promise<void> } {
    const { message, attempt } = queued;
    const run = new DeliveryRun({
      message,
      attempt,
      consume,
      times: this.#times,
      world: this.#world,
    });
    queued.run = run;
    const ended = run.outcome().then((outcome) => this.#settle(queued, outcome));
    return { run, ended: ended.finally(() => this.#world.afterTurn(() => this.#handOut())) };
  }

  #settle(queued: QueuedMessage, outcome: Outcome): void {
    queued.run = undefined;
    switch (outcome.do) {
      case 'finish':
        this.#messages.delete(queued.message.id);
        return;
      case 'again':
        this.#wait(queued, outcome.afterMs);
        return;
      case 'fail':
        this.#wait(queued, retryMs(queued.attempt, this.#times, this.#world));
        queued.attempt += 1;
        return;
      case 'abandon':
        this.#wait(queued, 0);
        queued.attempt += 1;
    }
  }

  #wait(queued: QueuedMessage, delayMs: number): void {
    queued.cancelDelay = this.#world.setTimer(() => {
      queued.cancelDelay = undefined;
      this.#ready.add(queued);
      this.#handOut();
    }, delayMs);
  }
}

class EmbeddedConsumer {
  readonly #world: World;
  readonly #places: number;
  readonly #begin: (queued: QueuedMessage) => { run: DeliveryRun; ended: Promise<void> };
  readonly #running = new Map<DeliveryRun, Promise<void>>();

  constructor(
    world: World,
    places: number,
    begin: (queued: QueuedMessage) => { run: DeliveryRun; ended: Promise<void> },
  ) {
    this.#world = world;
    this.#places = places;
    this.#begin = begin;
  }

  get hasRoom(): boolean {
    return this.#running.size < this.#places;
  }

  take(queued: QueuedMessage): void {
    const { run, ended } = this.#begin(queued);
    this.#running.set(
      run,
      ended.finally(() => this.#running.delete(run)),
    );
  }

  async stop(graceMs: number): Promise<void> {
    const cancel = this.#world.setTimer(() => {
      for (const run of this.#running.keys()) run.stop();
    }, graceMs);
    await Promise.all(this.#running.values());
    cancel();
  }
}
