/** What one connection tells about a Redis. */
import { connectRedis, settled } from './connection.ts';

export interface RedisStatus {
  readonly version: string;
  readonly policy: string;
  readonly usedBytes: number;
}

/** Throws with the reason if Redis cannot be reached or refuses the login. */
export async function readRedisStatus(url: string): Promise<RedisStatus> {
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
    // The error object contains the command, which may contain the password.
    throw new Error((error as Error).message);
  } finally {
    client.disconnect();
  }
}
