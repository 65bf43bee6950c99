/**
 * Queues on BullMQ, in Redis. BullMQ keeps the lists, the delays and the fence: finishing a message
 * requires its lock. The timeouts are ours, `lock-thread.ts` renews the locks, and a message is
 * never given up: its sender decides that.
 */
import type { Queue as BullLists, JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { Log } from '../observe/log.ts';
import {
  connectWatched,
  disconnect,
  isAway,
  Outage,
  readFullness,
  refuseEviction,
  settled,
} from '../redis/connection.ts';
import { type BullMessage, startConsumer } from './bullmq-consumer.ts';
import type { ConsumeOptions, Consumer, Message, Queue, QueueTimes } from './queue.ts';

export interface BullQueueOptions {
  readonly name: string;
  readonly url: string;
  readonly world: World;
  readonly log: Log;
  readonly times?: QueueTimes | undefined;
}

/**
 * Refuses a Redis that evicts keys. An unreachable Redis is retried; if it turns out to evict keys,
 * that is reported as an error.
 */
export async function openBullQueue(options: BullQueueOptions): Promise<Queue> {
  const { url, log, name } = options;
  const outage = new Outage(`queue ${name}`, log);
  const { commandTimeoutMs: commandTimeout } = limits.queue;
  const client = connectWatched(url, outage, { commandTimeout });
  client.on('ready', () => outage.end());
  try {
    if (await settled(client)) await refuseEviction(client, url);
  } catch (error) {
    disconnect(client);
    throw error;
  }
  client.on('ready', () => {
    refuseEviction(client, url).catch((error) => {
      if (isAway(error)) outage.tell(error);
      else log.error(`queue ${name}`, error);
    });
  });
  const bullmq = await import('bullmq');
  const lists = new bullmq.Queue<BullMessage, unknown, string>(listName(name), {
    prefix,
    connection: client,
  });
  lists.on('error', (error) => outage.tell(error));
  return new BullQueue({ ...options, outage, client, lists });
}

/** All keys of a queue are in one slot of a Redis cluster. */
const prefix = 'pawl';
const listName = (name: string): string => `{${name}}`;

/** No colons and no integers: BullMQ gives them a meaning. */
const bullId = (id: string): string => `m-${encodeURIComponent(id)}`;

/** Finished messages are removed, because the same id may come again. */
const jobOptions: JobsOptions = {
  removeOnComplete: true,
  removeOnFail: true,
  attempts: 1_000_000,
  backoff: { type: 'pawl' },
  stackTraceLimit: 0,
};

interface BullParts extends BullQueueOptions {
  readonly outage: Outage;
  readonly client: Redis;
  readonly lists: BullLists<BullMessage, unknown, string>;
}

class BullQueue implements Queue {
  readonly name: string;
  readonly #parts: BullParts;
  readonly #consumers = new Set<Consumer>();
  #fullness = { share: 0, at: Number.NEGATIVE_INFINITY };

  constructor(parts: BullParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  async add(messages: readonly Message[]): Promise<void> {
    const { lists } = this.#parts;
    for (let from = 0; from < messages.length; from += limits.queue.addBatchMax) {
      const batch = messages.slice(from, from + limits.queue.addBatchMax);
      const jobs = batch.map(({ kind, ...data }) => {
        return { name: kind, data, opts: { ...jobOptions, jobId: bullId(data.id) } };
      });
      await this.#refuseFull();
      await this.#call('add to', () => lists.addBulk(jobs));
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    const { lists } = this.#parts;
    for (let from = 0; from < ids.length; from += limits.queue.addBatchMax) {
      const batch = ids.slice(from, from + limits.queue.addBatchMax);
      await this.#call('remove from', () =>
        Promise.all(batch.map((id) => lists.remove(bullId(id)))),
      );
    }
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    const { name, url, world, log, times = limits.queue, lists } = this.#parts;
    const keys = { prefix, name: listName(name), keyPrefix: lists.toKey('') };
    const inner = await startConsumer({ name, url, world, log, times, keys }, options);
    const consumer: Consumer = {
      stop: async (graceMs) => {
        this.#consumers.delete(consumer);
        await inner.stop(graceMs);
      },
    };
    this.#consumers.add(consumer);
    return consumer;
  }

  async depth(): Promise<{ waiting: number; active: number }> {
    const { lists } = this.#parts;
    const counts = await this.#call('count', () =>
      lists.getJobCounts('wait', 'prioritized', 'delayed', 'active'),
    );
    const { active = 0, wait = 0, prioritized = 0, delayed = 0 } = counts;
    return { waiting: wait + prioritized + delayed, active };
  }

  async beginFill(): Promise<boolean> {
    const { client } = this.#parts;
    const { fillMs } = limits.queue;
    const reply = await this.#call('read', () =>
      client.set(this.#fillKey, 'begun', 'PX', fillMs, 'NX'),
    );
    return reply === 'OK';
  }

  /**
   * Does nothing if the marker is absent: a queue that was emptied during the fill is incomplete.
   */
  async endFill(): Promise<void> {
    const { client } = this.#parts;
    await this.#call('read', () => client.set(this.#fillKey, 'whole', 'XX'));
  }

  async close(): Promise<void> {
    const { client } = this.#parts;
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop(0)));
    disconnect(client);
  }

  get #fillKey(): string {
    return this.#parts.lists.toKey('filled');
  }

  /** Removing a message needs memory too: a completely full Redis can never be drained. */
  async #refuseFull(): Promise<void> {
    const { client, world, name } = this.#parts;
    const now = world.now();
    if (now - this.#fullness.at >= limits.queue.memoryCheckMs) {
      const share = await this.#call('read', () => readFullness(client));
      this.#fullness = { share, at: now };
    }
    if (this.#fullness.share <= limits.queue.memoryFactor) return;
    const percent = Math.floor(this.#fullness.share * 100);
    const message = `${percent} % of the memory of its Redis is used: raise its maxmemory`;
    throw new Failure('queue_unavailable', `cannot add to queue ${name}: ${message}`);
  }

  /** Fails at once while Redis is unreachable: the caller has its request on disk. */
  async #call<T>(what: string, command: () => Promise<T>): Promise<T> {
    const { client, outage, name } = this.#parts;
    const failed = (why: string, cause?: unknown): Failure =>
      new Failure('queue_unavailable', `cannot ${what} queue ${name}: ${why}`, { cause });
    if (client.status !== 'ready') throw failed('Redis is away');
    try {
      return await command();
    } catch (error) {
      const { message } = error as Error;
      if (isAway(error)) outage.tell(error);
      throw failed(message, error);
    }
  }
}
