/** `pawl doctor` checks of each configured Redis. */

import { type RedisConfig, redisAddresses } from '../../../app/settings/redis.ts';
import { bytes } from '../../view/wording.ts';
import { type Finding, failed } from './doctor.ts';

export async function checkRedis(config: RedisConfig): Promise<Finding[]> {
  const { orch, scrape, embed } = redisAddresses(config);
  const wanted = Object.entries({ orch, scrape, embed });
  const urls = [...new Set([orch, scrape, embed])].filter((url) => url !== undefined);
  if (urls.length === 0) return [];
  let redis: RedisModules;
  try {
    redis = await loadRedis();
  } catch (error) {
    return [failed('Redis', error)];
  }
  return Promise.all(
    urls.map((url) => {
      const names = wanted.flatMap(([name, its]) => (its === url ? [name] : []));
      const check = urls.length === 1 && names.length === 3 ? 'Redis' : `Redis ${names.join(', ')}`;
      return checkOne(redis, url, { check, hasQueue: url === scrape || url === embed });
    }),
  );
}

type RedisModules = Awaited<ReturnType<typeof loadRedis>>;

/** The package for Redis is installed only where Redis is used. */
async function loadRedis() {
  const { readRedisStatus } = await import('../../../redis/check.ts');
  const { evictionCure, publicAddress } = await import('../../../redis/connection.ts');
  return { readRedisStatus, evictionCure, publicAddress };
}

async function checkOne(
  { readRedisStatus, evictionCure, publicAddress }: RedisModules,
  url: string,
  { check, hasQueue }: { readonly check: string; readonly hasQueue: boolean },
): Promise<Finding> {
  try {
    const { version, policy, usedBytes } = await readRedisStatus(url);
    const found = `${publicAddress(url)}, ${version}, ${policy}, ${bytes(usedBytes)} used`;
    if (policy === 'noeviction') return { check, verdict: 'ok', found };
    // Without a queue in it, only request counters can be lost.
    return { check, verdict: hasQueue ? 'fail' : 'warn', found, advice: evictionCure(url) };
  } catch (error) {
    const found = `${publicAddress(url)} cannot be used (${(error as Error).message})`;
    const advice = 'start it, or correct its address, user or password in PAWL_REDIS_…URL';
    return { check, verdict: 'fail', found, advice };
  }
}
