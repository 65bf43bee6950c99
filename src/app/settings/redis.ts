/** The settings of Redis: one for all processes, or one per kind of process. */
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
      'The Redis that several processes share to count requests, publish job states and ' +
      'wake each other; default for the three settings below. Absent: processes do not ' +
      'share them.',
  },
  redisOrchUrl: {
    ...row,
    variable: 'PAWL_REDIS_ORCH_URL',
    meaning: 'The Redis of the orchestrators: request counters and job states.',
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

/** Resolves the Redis of each role: its own, or the shared one. */
export function redisAddresses(config: RedisConfig) {
  const { redisUrl } = config;
  return {
    orch: config.redisOrchUrl ?? redisUrl,
    scrape: config.redisScrapeUrl ?? redisUrl,
    embed: config.redisEmbedUrl ?? redisUrl,
  };
}

export type RedisAddresses = ReturnType<typeof redisAddresses>;
