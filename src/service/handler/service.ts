/** The service about itself. */

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

/** What a process needs to be of use, each with a sentence on how it is. */
export type Checks = Readonly<Record<string, () => Promise<string>>>;

export type Standing = Pick<Service, 'metrics' | 'access' | 'isDraining'>;

export type Leaned = Pick<Service, 'database' | 'embedder' | 'blobs' | 'sinks' | 'room'>;

export function storeChecks({ database, embedder, blobs, sinks, room }: Leaned): Checks {
  return {
    store: () => checkStore(database),
    queue: async () => {
      const depth = (await countQueues(database)).reduce((sum, { count }) => sum + count, 0);
      const said = depth === 1 ? '1 item waits' : `${depth} items wait`;
      // Who would add to it is refused with 429. Reading, canceling and searching go on.
      return depth > room.max ? `${said}: no new jobs for now` : said;
    },
    provider: () => checkEmbedder(embedder),
    ...(blobs.check && { blobs: async () => (await blobs.check?.()) ?? '' }),
    ...sinkChecks(sinks),
  };
}

export async function checkStore(database: Leaned['database']): Promise<string> {
  const version = await readSchemaVersion(database);
  return `${database.dialect.name}, schema ${version}`;
}

export async function checkEmbedder(embedder: Embedder): Promise<string> {
  const { model, meter } = embedder;
  // Whoever asks every few seconds must not pay for it.
  if (meter) return `${model}, not asked, because an answer may cost something`;
  await embedder.embed(['ready'], AbortSignal.timeout(limits.search.timeoutMs));
  return model;
}

export function serviceRoutes({ metrics, access, isDraining }: Standing, asked: Checks) {
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
      return { ready, checks: { ...checks, ...standingOf(access) } };
    },
    'GET /metrics': async ({ reply }) => {
      reply.type(metrics.contentType);
      metrics.seeStanding(access.status);
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

/** A document is not done before its sinks have it: without them nothing goes forward. */
export function sinkChecks(sinks: readonly Sink[]): Checks {
  const checkOf = (sink: Sink) => () => sink.check(AbortSignal.timeout(limits.search.timeoutMs));
  return Object.fromEntries(sinks.map((sink) => [sink.name, checkOf(sink)]));
}

/**
 * What Pawl works without for a while: callers that are known stay known, and windows are kept in
 * memory. It is told, but a balancer must not take every process away for it.
 */
function standingOf({ status }: ServiceAccess): { membership?: Check; redis?: Check } {
  const { membership, redis } = status ?? {};
  return {
    ...(membership && {
      membership: { ok: membership.circuit === 'closed', detail: `circuit ${membership.circuit}` },
    }),
    ...(redis && { redis: { ok: redis.isReady, detail: `circuit ${redis.circuit}` } }),
  };
}

/** Why something cannot be used is for the operator's eyes: the log has it, the answer has not. */
async function check(ask: () => Promise<string>): Promise<Check> {
  try {
    return { ok: true, detail: await ask() };
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    return { ok: false, detail: name === 'Error' ? (error as Error).message : name };
  }
}
