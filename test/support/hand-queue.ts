/** A queue that a test delivers from by hand: it can lose, duplicate and hold back messages. */
import type { ConsumeOptions, Consumer, Message, Queue } from '../../src/queue/queue.ts';

export class HandQueue implements Queue {
  readonly name: string;
  readonly waiting = new Map<string, Message>();
  /** Every added message whose id was not in the queue. */
  readonly added: Message[] = [];
  isAway = false;

  constructor(name: string) {
    this.name = name;
  }

  async add(messages: readonly Message[]): Promise<void> {
    if (this.isAway) throw new Error('the queue is away');
    for (const message of messages) {
      if (this.waiting.has(message.id)) continue;
      this.waiting.set(message.id, message);
      this.added.push(message);
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.waiting.delete(id);
  }

  consume(_: ConsumeOptions): Promise<Consumer> {
    throw new Error('a test delivers by hand');
  }

  async depth(): Promise<{ waiting: number; active: number }> {
    return { waiting: this.waiting.size, active: 0 };
  }

  async beginFill(): Promise<boolean> {
    return false;
  }

  async endFill(): Promise<void> {}

  async close(): Promise<void> {}

  /** Takes the oldest message, like a worker that finishes it. */
  take(): Message {
    const [message] = this.waiting.values();
    if (!message) throw new Error('nothing is in the queue');
    this.waiting.delete(message.id);
    return message;
  }
}
