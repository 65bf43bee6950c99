/** A service in a process of its own: what it says of itself, and of the models that it calls. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { open } from '../../src/index.ts';
import { startRole } from '../../src/role-service.ts';
import { startOpenaiServer } from '../support/openai-server.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { startCollector } from '../support/span-collector.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';

const internalKey = 'an-internal-key-of-24-or-more';

interface Ready {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}

async function openEmbedding(t: TestContext) {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const redis = await startRedis();
  t.after(() => redis.stop());
  const databaseUrl = await postgres.createDatabase();
  await (await open({ data: temporaryDirectory(t), database: databaseUrl, work: false })).close();
  const model = await startOpenaiServer(t);
  const { spans, otlpUrl } = await startCollector(t);
  const orchestrator = await serveWeb(t, pagesOf({ '/healthz': 'well' }));
  const role = await startRole({
    ...{ role: 'embedding', host: '127.0.0.1', port: 0, internalKey, databaseUrl, otlpUrl },
    orchestratorUrl: orchestrator.origin,
    keys: { internalKey, isClosed: true },
    addresses: { orch: undefined, scrape: undefined, embed: redis.url },
    embedder: { choice: 'openai:embed-small', url: model.url },
    log: { level: 'error', write: () => undefined },
  });
  t.after(() => role.close());
  const headers = { 'x-api-key': internalKey, 'content-type': 'application/json' };
  const ask = async (path: string, body?: object) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${role.address}${path}`, { headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as Ready };
  };
  return { postgres, role, spans, ask };
}

test('an embedding service tells of its calls, and is unready without the store', async (t) => {
  const { postgres, role, spans, ask } = await openEmbedding(t);
  assert.equal((await ask('/embed', { texts: ['A heron waits.'] })).status, 200);
  const well = await ask('/readyz');
  assert.deepEqual(
    [well.status, Object.keys(well.body.checks).sort()],
    [200, ['orchestrator', 'provider', 'queue', 'store']],
  );
  assert.match(well.body.checks.store?.detail ?? '', /^postgres, schema \d+$/);
  await postgres.stop();
  const without = await ask('/readyz');
  assert.deepEqual([without.status, without.body.checks.store?.ok], [503, false]);
  await role.close();
  const [call] = spans.filter(({ name }) => name === 'embeddings');
  assert.equal(call?.kind, 3);
  assert.match(JSON.stringify(call?.attributes), /embed-small/);
});
