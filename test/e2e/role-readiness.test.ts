/** A service in its own process: its readiness, and the calls of its models. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startRole } from '../../src/app/role/worker-service.ts';
import { open } from '../../src/index.ts';
import { startOpenaiServer } from '../support/openai-server.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { startCollector } from '../support/span-collector.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { pagesOf, serveWeb } from '../support/web-server.ts';

const internalKey = 'an-internal-key-of-24-or-more';

interface Ready {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}

interface Fetched {
  readonly status: string;
  readonly vectors: { readonly embeddings: readonly number[][] };
}

async function openEmbedding(t: TestContext, { work = true } = {}) {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const redis = await startRedis();
  t.after(() => redis.stop());
  const databaseUrl = await postgres.createDatabase();
  await (await open({ data: temporaryDirectory(t), database: databaseUrl, work: false })).close();
  const model = await startOpenaiServer(t);
  const { spans, otlpUrl } = await startCollector(t);
  const orchestrator = await serveWeb(t, pagesOf({ '/healthz': 'well' }));
  const start = (isWorking: boolean) =>
    startRole({
      ...{
        role: 'embedding',
        work: isWorking,
        host: '127.0.0.1',
        port: 0,
        internalKey,
        database: databaseUrl,
        otlpUrl,
      },
      orchestratorUrl: orchestrator.origin,
      keys: { internalKey, isClosed: true },
      addresses: { orch: undefined, scrape: undefined, embed: redis.url },
      embedder: { choice: 'openai:embed-small', url: model.url },
      log: { level: 'error', write: () => undefined },
    });
  const role = await start(work);
  t.after(() => role.close());
  const headers = { 'x-api-key': internalKey, 'content-type': 'application/json' };
  const ask = async (path: string, body?: object) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${role.address}${path}`, { headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as Ready };
  };
  const addWorker = async () => {
    const worker = await start(true);
    t.after(() => worker.close());
    return worker;
  };
  return { postgres, role, spans, ask, model, addWorker };
}

/** How many batches a process has embedded for others. */
async function writesOf({ address }: { readonly address: string }): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const [, count = '0'] =
    /^embedding_request_duration_seconds_count\{operation="write"\} (\d+)$/m.exec(text) ?? [];
  return Number(count);
}

test('an embedding service without workers answers, and leaves its queue to others', async (t) => {
  const { role, ask, model, addWorker } = await openEmbedding(t, { work: false });
  const texts = ['A heron waits.'];
  assert.equal((await ask('/embed', { texts })).status, 200);
  assert.equal((await ask('/search', { corpus_name: 'a', query: 'heron' })).status, 404);
  const queued = await ask('/enqueue', { texts: ['A crane waits.'] });
  const { id } = queued.body as unknown as { id: string };
  const { body } = await ask('/readyz');
  assert.equal(body.checks.queue?.detail, '1 messages wait, 0 are worked on');
  const worker = await addWorker();
  await until(async () => (await writesOf(worker)) === 1, { what: 'the message to be worked on' });
  assert.equal(await writesOf(role), 0);
  // The result is in the Redis of the queue, so any process of the role has it.
  const fetched = () => ask(`/enqueue/${id}`) as Promise<unknown> as Promise<{ body: Fetched }>;
  await until(async () => (await fetched()).body.status === 'done', { what: 'the result' });
  assert.equal((await fetched()).body.vectors.embeddings.length, 1);
  assert.deepEqual(
    model.requests.map((request) => request.texts),
    [['A heron waits.'], ['A crane waits.']],
  );
});

test('an embedding service reports its calls, and is not ready without the store', async (t) => {
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
