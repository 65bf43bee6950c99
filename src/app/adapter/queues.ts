/** The queues between processes: in Redis if configured, else in memory. */
import type { World } from '../../kernel/world.ts';
import type { Log } from '../../observe/log.ts';
import { EmbeddedQueue } from '../../queue/embedded.ts';
import type { Queue, QueueTimes } from '../../queue/queue.ts';
import type { ResponseStore } from '../../redis/response-store.ts';
import type { RedisAddresses } from '../settings/redis.ts';

/** The queues, and the Redis that each is in. */
const homes = { scrape_jobs: 'scrape', embed_jobs: 'embed' } as const;

export type QueueName = keyof typeof homes;

export const queueNames = Object.keys(homes) as readonly QueueName[];

export interface QueueOptions {
  readonly addresses: RedisAddresses;
  readonly world: World;
  readonly log: Log;
  readonly times?: QueueTimes | undefined;
}

export interface OpenQueues {
  readonly queues: Readonly<Record<QueueName, Queue>>;
  close(): Promise<void>;
}

/** Both queues, for the orchestrator. Refuses a Redis that may evict messages. */
export async function openQueues(options: QueueOptions): Promise<OpenQueues> {
  const opened = await Promise.allSettled(queueNames.map((name) => openQueue(name, options)));
  const queues = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(queues.map((queue) => queue.close()));
  };
  const refused = opened.find((result) => result.status === 'rejected');
  if (refused) {
    await close();
    throw refused.reason;
  }
  const named = Object.fromEntries(queues.map((queue) => [queue.name, queue]));
  return { queues: named as Record<QueueName, Queue>, close };
}

/** Stores responses until the orchestrator has them, if the queue is in Redis. */
export async function openAnswers(
  name: QueueName,
  { addresses, log }: Pick<QueueOptions, 'addresses' | 'log'>,
): Promise<ResponseStore | undefined> {
  const url = addresses[homes[name]];
  if (url === undefined) return undefined;
  const { openResponseStore } = await import('../../redis/response-store.ts');
  return openResponseStore({ url, log });
}

/** One queue, for its consumer. */
export async function openQueue(
  name: QueueName,
  { addresses, world, log, times }: QueueOptions,
): Promise<Queue> {
  const url = addresses[homes[name]];
  if (url === undefined) return new EmbeddedQueue({ name, world, times });
  // Loaded here: a single process needs no Redis.
  const { openBullQueue } = await import('../../queue/bullmq.ts');
  return openBullQueue({ name, url, world, log, times });
}
