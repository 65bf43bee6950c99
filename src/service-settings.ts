/** The settings by which services in different processes find each other. */
import { isHttpUrl, isRedisUrl } from './setting-forms.ts';

export const roleNames = ['all', 'orchestrator', 'scraper', 'chunking', 'embedding'] as const;

export type RoleName = (typeof roleNames)[number];

export interface ServiceConfig {
  readonly role: RoleName;
  readonly orchestratorUrl: string | undefined;
  readonly chunkingUrl: string | undefined;
  readonly redisOrchUrl: string | undefined;
  readonly redisScrapeUrl: string | undefined;
  readonly redisEmbedUrl: string | undefined;
}

const redisForm = 'an address such as redis://user:password@host:6379/0';
const httpForm = 'an http or https address such as http://127.0.0.1:7300';

const redis = (variable: `PAWL_${string}`, meaning: string) => ({
  variable,
  initial: undefined,
  form: redisForm,
  meaning: `${meaning} Absent: \`PAWL_REDIS_URL\`.`,
  isSecret: true,
  parse: (text: string) => (isRedisUrl(text) ? text : undefined),
});

const http = (variable: `PAWL_${string}`, meaning: string) => ({
  ...{ variable, initial: undefined, form: httpForm, meaning },
  parse: (text: string) => (isHttpUrl(text) ? text : undefined),
});

export const serviceSettings = {
  role: {
    variable: 'PAWL_ROLE',
    flag: '--role',
    initial: 'all' as RoleName,
    form: `one of ${roleNames.join(', ')}`,
    meaning: 'Which part of Pawl `pawl serve` runs; `all` needs no other process.',
    parse: (text: string) => roleNames.find((name) => name === text),
  },
  orchestratorUrl: http('PAWL_ORCHESTRATOR_URL', 'Where scraper and embedding call back.'),
  chunkingUrl: http('PAWL_CHUNKING_URL', 'Where the orchestrator has texts cut.'),
  redisOrchUrl: redis('PAWL_REDIS_ORCH_URL', 'The Redis of the orchestrator.'),
  redisScrapeUrl: redis('PAWL_REDIS_SCRAPE_URL', 'The Redis with the queue of the scraper.'),
  redisEmbedUrl: redis(
    'PAWL_REDIS_EMBED_URL',
    'The Redis with the queue of the embedding service.',
  ),
} as const;
