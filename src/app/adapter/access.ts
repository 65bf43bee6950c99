/** Access control and the view of jobs that orchestrators share, with Redis where configured. */
import { type AccessOptions, type OpenAccess, openAccess } from '../../access/access.ts';
import type { Log } from '../../observe/log.ts';
import type { HotStore, HotStoreOptions } from '../../redis/hot-store.ts';

export interface AccessSettings extends Omit<AccessOptions, 'remote'> {
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

export interface AssembledAccess {
  readonly access: OpenAccess;
  close(): void;
}

/** With Redis, resolves when the first connection succeeded or failed. */
export async function assembleAccess(settings: AccessSettings): Promise<AssembledAccess> {
  const { redisUrl: url, world, log } = settings;
  if (url === undefined) return { access: openAccess(settings), close: () => undefined };
  // Loaded here, so that a command without a service starts faster.
  const { RedisLink } = await import('../../access/limit/redis.ts');
  const remote = new RedisLink({ url, world, log });
  await remote.settled();
  return { access: openAccess({ ...settings, remote }), close: () => remote.close() };
}

/** Job views that several orchestrators share. */
export async function assembleHotStore(options: HotStoreOptions): Promise<HotStore> {
  const { openHotStore } = await import('../../redis/hot-store.ts');
  return openHotStore(options);
}
