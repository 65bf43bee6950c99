/** Several orchestrators on one Postgres, and the job views that they share in Redis. */
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { hashed } from '../support/access-fixture.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

let postgres: Postgres;
let redis: Redis;
before(async () => {
  [postgres, redis] = await Promise.all([startPostgres({ durable: false }), startRedis()]);
});
after(() => Promise.all([postgres.stop(), redis.stop()]));

async function openTwo(t: TestContext, options: Parameters<typeof openBench>[1] = {}) {
  const databaseUrl = await postgres.createDatabase();
  const common = { database: databaseUrl, hotUrl: redis.url, ...options };
  const a = await openBench(t, common);
  return { a, b: await openBench(t, { ...common, work: false }) };
}

const body = { corpus_name: 'a', documents: [{ id: 'cat', text: 'The cat sleeps.' }] };
const look = (server: Bench, id: string, headers = {}) =>
  server.ask('GET /jobs/:id', { params: { id }, headers });

async function readsOf(server: Bench): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.service.address}/metrics`)).text();
  const found = text.matchAll(/^pawl_hot_view_reads_total\{result="(\w+)"\} (\d+)/gm);
  return Object.fromEntries([...found].map(([, result, count]) => [result, Number(count)]));
}

describe('two orchestrators', () => {
  test('show the effect of a command in the next request to the other', async (t) => {
    const { a, b } = await openTwo(t, { work: false });
    for (let time = 0; time < 5; time += 1) {
      const id = await a.submit(body);
      assert.equal((await look(b, id)).body.state, 'queued');
      const steps = [
        [a, 'POST /jobs/:id/pause', 'paused', b],
        [b, 'POST /jobs/:id/resume', 'queued', a],
        [a, 'POST /jobs/:id/cancel', 'canceled', b],
        [b, 'POST /jobs/:id/retry', 'queued', a],
      ] as const;
      for (const [one, route, state, other] of steps) {
        const asked = await one.ask(route, {
          params: { id },
          ...(route.endsWith('resume') && { body: {} }),
        });
        assert.equal(asked.status, 200, JSON.stringify(asked.body));
        assert.equal((await look(other, id)).body.state, state, route);
        assert.equal((await look(one, id)).body.state, state, route);
      }
    }
  });

  test('answer the same, and one of them without a query to the store', async (t) => {
    const { a, b } = await openTwo(t);
    const id = await a.submit(body);
    const ended = await a.ended(id);
    assert.equal(ended.status, 'done');
    const first = await look(b, id);
    await until(
      async () => {
        await look(b, id);
        return ((await readsOf(b)).hit ?? 0) > 0;
      },
      { what: 'a hit' },
    );
    assert.deepEqual((await look(b, id)).body, first.body);
    assert.deepEqual((await look(a, id)).body, first.body);
  });

  test('stream changes of one to clients of the other', async (t) => {
    const { a, b } = await openTwo(t);
    const stream = await fetch(`${b.service.address}/stream`);
    const id = await a.submit(body);
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.includes('"job_succeeded"')) break;
    }
    assert.ok(text.includes(id));
    // A streamed change is committed, so the next request shows it.
    assert.equal((await look(b, id)).body.state, 'succeeded');
  });

  test('show a job only to its owner', async (t) => {
    const keys = { apiKeys: [hashed('mine'), hashed('theirs')] };
    const { a, b } = await openTwo(t, { work: false, keys });
    const [mine, theirs] = [{ 'x-api-key': 'mine' }, { 'x-api-key': 'theirs' }];
    const id = await a.submit(body, mine);
    for (const server of [a, b]) {
      assert.equal((await look(server, id, mine)).status, 200);
      const foreign = await look(server, id, theirs);
      assert.deepEqual([foreign.status, foreign.body.code], [404, 'job_unknown']);
    }
  });
});

test('while Redis is down, the store answers, and one warning is logged', async (t) => {
  const own = await startRedis();
  t.after(() => own.stop());
  const { a, b } = await openTwo(t, { work: false, hotUrl: own.url });
  const id = await a.submit(body);
  assert.equal((await look(b, id)).body.state, 'queued');
  await own.stop();
  assert.equal((await a.ask('POST /jobs/:id/pause', { params: { id } })).status, 200);
  assert.equal((await look(b, id)).body.state, 'paused');
  assert.equal((await look(a, id)).body.state, 'paused');
  assert.ok(((await readsOf(b)).away ?? 0) > 0);
  const told = b.lines.filter((line) => line.includes('Redis of the state of jobs is away'));
  assert.equal(told.length, 1, b.lines.join('\n'));
});
