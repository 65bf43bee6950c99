/** Health, readiness, metrics and documentation of the service. */

import { docsPage } from '../../contract/docs-page.ts';
import { openApiDocument } from '../../contract/openapi.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Embedder } from '../../provider/embedding/embedding.ts';
import type { Sink } from '../../sink/sink.ts';
import { readSchemaVersion } from '../../store/driver/health.ts';
import { countQueues } from '../../store/item/places.ts';
import type { ServiceAccess } from '../access.ts';
import type { Handlers, Service } from '../service.ts';

type Check = { ok: boolean; detail: string };

/** The readiness checks, each with a sentence about its state. */
export type Checks = Readonly<Record<string, () => Promise<string>>>;

export type HealthParts = Pick<Service, 'metrics' | 'access' | 'isDraining'>;

export type StoreParts = Pick<Service, 'database' | 'embedder' | 'blobs' | 'sinks' | 'capacity'>;

export function storeChecks({ database, embedder, blobs, sinks, capacity }: StoreParts): Checks {
  return {
    store: () => checkStore(database),
    queue: async () => {
      const depth = (await countQueues(database)).reduce((sum, { count }) => sum + count, 0);
      const said = depth === 1 ? '1 item waiting' : `${depth} items waiting`;
      // New work is refused with 429. Reading, canceling and searching still work.
      return depth > capacity.max ? `${said}: new jobs are refused` : said;
    },
    provider: () => checkEmbedder(embedder),
    ...(blobs.check && { blobs: async () => (await blobs.check?.()) ?? '' }),
    ...sinkChecks(sinks),
  };
}

export async function checkStore(database: StoreParts['database']): Promise<string> {
  const version = await readSchemaVersion(database);
  return `${database.dialect.name}, schema ${version}`;
}

export async function checkEmbedder(embedder: Embedder): Promise<string> {
  const { model, meter } = embedder;
  // Health checks run every few seconds and must not cost money.
  if (meter) return `${model}, not checked, because a request may cost money`;
  await embedder.embed(['ready'], AbortSignal.timeout(limits.search.timeoutMs));
  return model;
}

export function serviceRoutes({ metrics, access, isDraining }: HealthParts, asked: Checks) {
  return {
    'GET /healthz': async () => ({ status: 'ok' }),
    'GET /readyz': async ({ reply }) => {
      const names = Object.entries(asked);
      const found = await Promise.all(names.map(([, ask]) => check(ask)));
      const checks = Object.fromEntries(
        names.map(([name], index) => [name, found[index] as Check]),
      );
      const ready = !isDraining() && found.every(({ ok }) => ok);
      if (!ready) reply.code(503);
      return { ready, checks: { ...checks, ...dependencyChecks(access) } };
    },
    'GET /metrics': async ({ reply }) => {
      reply.type(metrics.contentType);
      metrics.seeDependencies(access.status);
      return metrics.read();
    },
    'GET /openapi.json': async () => openApiDocument(),
    'GET /docs': async ({ reply }) => {
      const { html, policy } = docsPage();
      reply.header('content-security-policy', policy).type('text/html; charset=utf-8');
      return html;
    },
  } satisfies Partial<Handlers>;
}

/** A document is only done after its sinks have it, so a missing sink blocks all progress. */
export function sinkChecks(sinks: readonly Sink[]): Checks {
  const checkOf = (sink: Sink) => () => sink.check(AbortSignal.timeout(limits.search.timeoutMs));
  return Object.fromEntries(sinks.map((sink) => [sink.name, checkOf(sink)]));
}

/**
 * Pawl works without these for a while: known callers stay known, and rate windows are kept in
 * memory. The state is reported, but a load balancer must not remove every process for it.
 */
function dependencyChecks({ status }: ServiceAccess): { membership?: Check; redis?: Check } {
  const { membership, redis } = status ?? {};
  return {
    ...(membership && {
      membership: { ok: membership.circuit === 'closed', detail: `circuit ${membership.circuit}` },
    }),
    ...(redis && { redis: { ok: redis.isReady, detail: `circuit ${redis.circuit}` } }),
  };
}

/** The reason of a failed check is only for the operator: it is in the log, not in the response. */
async function check(ask: () => Promise<string>): Promise<Check> {
  try {
    return { ok: true, detail: await ask() };
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    return { ok: false, detail: name === 'Error' ? (error as Error).message : name };
  }
}
