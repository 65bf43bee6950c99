/** The service on Postgres, with the statements that differ there. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import type { Delivery, Item, Why } from '../../src/contract/schema/schema.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres({ durable: false });
});
after(() => postgres.stop());

const open = async (t: Cleanup, work = true) =>
  openBench(t, { database: await postgres.createDatabase(), work });

describe('the service on Postgres', () => {
  test('200 concurrent requests with one key create exactly one job', async (t) => {
    const { ask } = await open(t, false);
    const body = { corpus_name: 'a', documents: [{ id: 'cat', text: 'The cat sleeps.' }] };
    const headers = { 'idempotency-key': 'storm' };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask('POST /jobs', { body, headers })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    assert.equal(new Set(answers.map((answer) => answer.body.job_id)).size, 1);
    const other = await ask('POST /jobs', { body: { ...body, corpus_name: 'b' }, headers });
    assert.deepEqual([other.status, other.body.code], [422, 'idempotency_conflict']);
    const { body: list } = await ask<{ items: { job_id: string }[] }>('GET /jobs');
    assert.equal(list.items.length, 1);
    const items = await ask<{ items: Item[] }>('GET /jobs/:id/items', {
      params: { id: String(list.items[0]?.job_id) },
    });
    assert.equal(items.body.items[0]?.explanation, 'Next in the queue, to be fetched.');
  });

  test('sends the end of a job to its webhook, and again on request', async (t) => {
    const received: string[] = [];
    const statuses = [500];
    const receiver = createServer((request, response) => {
      received.push(String(request.headers['webhook-id']));
      request.resume().on('end', () => response.writeHead(statuses.shift() ?? 204).end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    t.after(() => receiver.close());
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const { ask, submit } = await openBench(t, {
      database: await postgres.createDatabase(),
      webhookSecret: 'a-secret-for-webhooks-of-this-test',
      allowHosts: [host],
      world: { ...realWorld(), random: () => 0 },
    });
    const documents = [{ id: 'x', text: 'A heron waits.' }];
    const webhook_url = `http://${host}/hook`;
    const id = await submit({ corpus_name: 'a', documents, webhook_url });
    const delivered = await until(
      async () => {
        const { body } = await ask<{ items: Delivery[] }>('GET /jobs/:id/deliveries', {
          params: { id },
        });
        return body.items.find(({ state }) => state === 'delivered');
      },
      { what: 'the delivery' },
    );
    assert.deepEqual([delivered.attempt, delivered.type], [2, 'job.succeeded']);
    const params = { id, delivery: delivered.delivery_id };
    const replay = await ask('POST /jobs/:id/deliveries/:delivery/replay', { params });
    assert.equal(replay.status, 202);
    await until(() => received.length === 3, { what: 'the replay' });
    assert.deepEqual([...new Set(received)], [delivered.delivery_id]);
  });

  test('streams, lists, explains and measures', async (t) => {
    const { ask, submit, ended } = await open(t);
    const documents = [
      { id: 'good', markdown: '# One\n\nAda Lovelace saw a heron.' },
      { id: 'bad', text: '' },
    ];
    const job = await ended(await submit({ corpus_name: 'a', documents }));
    assert.deepEqual([job.status, job.partial], ['done', true]);
    for (const query of [
      { corpus_name: 'a' },
      { status: 'done' },
      { state: 'succeeded', corpus_name: 'a' },
      {},
    ] as Record<string, string>[]) {
      const { body } = await ask<{ items: unknown[] }>('GET /jobs', { query });
      assert.equal(body.items.length, 1, JSON.stringify(query));
    }
    for (const [name, value] of [
      ['failed_stage', 'scraping'],
      ['state', 'failed'],
    ] as const) {
      const query = { [name]: value };
      assert.deepEqual((await ask('GET /jobs', { query })).body.items, []);
    }
    const inbox = await ask<{ causes: { fingerprint: string }[] }>('GET /inbox', {
      query: { cause: 'empty_source' },
    });
    assert.equal(inbox.body.causes[0]?.fingerprint, 'empty_source');
    const why = await ask<Why>('GET /why', {
      query: { corpus_name: 'a', url: 'inline:good', query: 'heron' },
    });
    assert.equal(why.body.verdict, 'searchable');
    const id = why.body.document?.document_id ?? '';
    const parts = ['chunks', 'entities', 'items', 'outline'] as const;
    for (const name of parts.map((part) => `GET /documents/:id/${part}` as const)) {
      const { body } = await ask<{ items: unknown[] }>(name, { params: { id } });
      assert.ok(body.items.length > 0, name);
    }
    assert.equal((await ask('GET /corpora/:name', { params: { name: 'a' } })).status, 200);
    assert.equal((await ask<{ items: unknown[] }>('GET /corpora')).body.items.length, 1);
    assert.equal((await ask('GET /readyz')).body.ready, true);
    assert.match((await ask<string>('GET /metrics')).body, /queue_depth\{queue="turns"\} 0/);
    assert.deepEqual((await ask('POST /inbox/retry', { body: { all: true } })).body, {
      retried: 1,
    });
  });
});
