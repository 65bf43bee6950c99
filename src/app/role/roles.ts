/**
 * The roles of Pawl's processes, all in one program. A role is a row: the routes it answers, the
 * queues it consumes and fills, whether it has the store, and the settings it needs.
 */
import type { RouteName } from '../../contract/contract.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import type { QueueName } from '../adapter/queues.ts';
import type { Config } from '../settings/config.ts';
import { redisAddresses } from '../settings/redis.ts';
import type { RoleName } from '../settings/service.ts';
import { settings } from '../settings/settings.ts';

export interface Role {
  readonly summary: string;
  /** Has the store, runs the engine and its sweeps, and takes callbacks. */
  readonly isOrchestrator: boolean;
  /** The service routes that it answers. */
  readonly routes: readonly RouteName[];
  /** The queues that it consumes. */
  readonly consumes: readonly QueueName[];
  /** The queues that it sends requests to. */
  readonly asks: readonly QueueName[];
  readonly needs: readonly Need[];
}

type Need = 'databaseUrl' | 'internalKey' | 'orchestratorUrl' | 'chunkingUrl' | QueueName;

const queued = ['POST /enqueue', 'GET /enqueue/:id'] as const;

export const roles: Readonly<Record<RoleName, Role>> = {
  all: {
    summary: 'everything in one process',
    isOrchestrator: true,
    routes: ['POST /scrape', 'POST /chunk', 'POST /embed', ...queued],
    consumes: ['scrape_jobs', 'embed_jobs'],
    asks: [],
    needs: [],
  },
  orchestrator: {
    summary: 'jobs, their state and their steps; asks the others for the work',
    isOrchestrator: true,
    routes: [],
    consumes: [],
    asks: ['scrape_jobs', 'embed_jobs'],
    needs: ['databaseUrl', 'internalKey', 'chunkingUrl', 'scrape_jobs', 'embed_jobs'],
  },
  scraper: {
    summary: 'reads pages and parses documents',
    isOrchestrator: false,
    routes: ['POST /scrape', ...queued],
    consumes: ['scrape_jobs'],
    asks: [],
    needs: ['internalKey', 'orchestratorUrl', 'scrape_jobs'],
  },
  chunking: {
    summary: 'cuts texts into chunks',
    isOrchestrator: false,
    routes: ['POST /chunk'],
    consumes: [],
    asks: [],
    needs: ['internalKey'],
  },
  embedding: {
    summary: 'makes vectors, finds entities, and searches',
    isOrchestrator: false,
    routes: ['POST /embed', ...queued, 'POST /search'],
    consumes: ['embed_jobs'],
    asks: [],
    needs: ['databaseUrl', 'internalKey', 'orchestratorUrl', 'embed_jobs'],
  },
};

/** Throws one failure that names every missing setting of the role. */
export function checkRole(name: RoleName, config: Config): void {
  const missing = roles[name].needs.filter((need) => !isTold(need, config)).map(variableOf);
  if (missing.length === 0) return;
  const message = `the role ${name} needs ${missing.join(', ')}: see docs/guide/services.md`;
  throw new Failure('usage_error', message);
}

function isTold(need: Need, config: Config): boolean {
  const { scrape, embed } = redisAddresses(config);
  if (need === 'scrape_jobs') return scrape !== undefined;
  return (need === 'embed_jobs' ? embed : config[need]) !== undefined;
}

function variableOf(need: Need): string {
  if (need === 'scrape_jobs') return `${settings.redisScrapeUrl.variable} (or PAWL_REDIS_URL)`;
  if (need === 'embed_jobs') return `${settings.redisEmbedUrl.variable} (or PAWL_REDIS_URL)`;
  return settings[need].variable;
}
