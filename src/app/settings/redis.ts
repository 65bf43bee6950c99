/** The settings of Redis: one for everything, or one beside each kind of process. */
import type { Setting } from './settings.ts';

export interface RedisConfig {
  readonly redisUrl: string | undefined;
  readonly redisOrchUrl: string | undefined;
  readonly redisScrapeUrl: string | undefined;
  readonly redisEmbedUrl: string | undefined;
}

const form = 'an address such as redis://user:password@host:6379/0';
const parse = (text: string): string | undefined =>
  /^rediss?:\/\//.test(text) && URL.canParse(text) ? text : undefined;
const row = { initial: undefined, form, isSecret: true, parse };

export const redisSettings: { readonly [K in keyof RedisConfig]: Setting<K> } = {
  redisUrl: {
    ...row,
    variable: 'PAWL_REDIS_URL',
    meaning:
      'Where several processes count requests together, see the state of jobs, and wake each ' +
      'other: the Redis of all that have none of their own. Absent: each process is alone.',
  },
  redisOrchUrl: {
    ...row,
    variable: 'PAWL_REDIS_ORCH_URL',
    meaning: 'The Redis of the orchestrators: requests that are counted, jobs that are watched.',
  },
  redisScrapeUrl: {
    ...row,
    variable: 'PAWL_REDIS_SCRAPE_URL',
    meaning: 'The Redis with the queue of the scrapers.',
  },
  redisEmbedUrl: {
    ...row,
    variable: 'PAWL_REDIS_EMBED_URL',
    meaning: 'The Redis with the queue of the embedding services.',
  },
};

/** Which Redis is whose: their own, or the one for all. */
export function redisAddresses(config: RedisConfig) {
  const { redisUrl } = config;
  return {
    orch: config.redisOrchUrl ?? redisUrl,
    scrape: config.redisScrapeUrl ?? redisUrl,
    embed: config.redisEmbedUrl ?? redisUrl,
  };
}

export type RedisAddresses = ReturnType<typeof redisAddresses>;
