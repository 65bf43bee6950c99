/**
 * Responses in transit, in the Redis of the queue that carried their requests. A paid response is
 * stored here before the orchestrator hears of it: if the worker dies in between, its successor
 * finds the response and does not pay again. While Redis is unreachable, nothing is stored and
 * nothing waits.
 */
import type { Redis } from 'ioredis';
import { limits } from '../kernel/limits/limits.ts';
import type { Log } from '../observe/log.ts';
import { connectWatched, disconnect, Outage, settled } from './connection.ts';

export interface ResponseStore {
  /** Undefined if there is none, or if Redis does not respond. */
  read(handoff: string): Promise<string | undefined>;
  write(handoff: string, answer: string): Promise<void>;
  remove(handoff: string): Promise<void>;
  close(): void;
}

export interface ResponseStoreOptions {
  readonly url: string;
  readonly log: Log;
  readonly commandTimeoutMs?: number | undefined;
}

const keyOf = (handoff: string): string => `pawl:answer:${handoff}`;

/** Resolves when Redis can be used, or when the first attempt to reach it has failed. */
export async function openResponseStore({
  url,
  log,
  commandTimeoutMs,
}: ResponseStoreOptions): Promise<ResponseStore> {
  const outage = new Outage('responses in transit', log);
  // A response can be as large as all vectors of a document.
  const client = connectWatched(url, outage, {
    commandTimeout: commandTimeoutMs ?? limits.handoff.keptMs,
  });
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
    close: () => disconnect(client),
  };
}
