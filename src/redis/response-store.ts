/**
 * Answers on their way, in the Redis of the queue that their questions came by. What was paid for
 * is here before the orchestrator is told, so that whoever takes over from a worker that dies in
 * between finds it, and does not pay again. Where Redis is away, nothing is kept, and nothing waits
 * for it.
 */
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import type { Log } from '../observe/log.ts';
import { connectRedis, Outage, settled } from './connection.ts';

export interface ResponseStore {
  /** Undefined where there is none, or nobody can say. */
  read(handoff: string): Promise<string | undefined>;
  write(handoff: string, answer: string): Promise<void>;
  remove(handoff: string): Promise<void>;
  close(): void;
}

export interface ResponseStoreOptions {
  readonly url: string;
  readonly log: Log;
}

const keyOf = (handoff: string): string => `pawl:answer:${handoff}`;

/** Resolves when Redis can be used, or when the first attempt to reach it has failed. */
export async function openResponseStore({
  url,
  log,
}: ResponseStoreOptions): Promise<ResponseStore> {
  const outage = new Outage('answers on their way', log);
  const client = connectRedis(url, {
    // An answer is as large as a document's vectors.
    commandTimeout: limits.handoff.keptMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  });
  client.on('error', (error) => outage.tell(error));
  client.on('ready', () => outage.end());
  await settled(client);
  const attempt = async <T>(call: (ready: Redis) => Promise<T>): Promise<T | undefined> => {
    if (client.status !== 'ready') return undefined;
    try {
      return await call(client);
    } catch (error) {
      outage.tell(error);
      return undefined;
    }
  };
  return {
    read: async (handoff) => (await attempt((ready) => ready.get(keyOf(handoff)))) ?? undefined,
    write: async (handoff, answer) => {
      if (answer.length > limits.handoff.keptCharactersMax) return;
      await attempt((ready) => ready.set(keyOf(handoff), answer, 'PX', limits.handoff.softMs));
    },
    remove: async (handoff) => {
      await attempt((ready) => ready.del(keyOf(handoff)));
    },
    close: () => client.disconnect(),
  };
}
