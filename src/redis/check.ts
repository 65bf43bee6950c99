/** What can be said of a Redis from one look at it. */
import { connectRedis, settled } from './connection.ts';

export interface RedisStanding {
  readonly version: string;
  readonly policy: string;
  readonly usedBytes: number;
}

/** Throws, with the reason, where it cannot be reached or does not let us in. */
export async function lookAtRedis(url: string): Promise<RedisStanding> {
  const client = connectRedis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason ??= error;
  });
  try {
    if (!(await settled(client))) throw reason ?? new Error('it closed the connection');
    const text = await client.info();
    const find = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1] ?? '';
    return {
      version: find('redis_version'),
      policy: find('maxmemory_policy'),
      usedBytes: Number(find('used_memory')),
    };
  } catch (error) {
    // The error itself holds the command, and that may hold the password.
    throw new Error((error as Error).message);
  } finally {
    client.disconnect();
  }
}
