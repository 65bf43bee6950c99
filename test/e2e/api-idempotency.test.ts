/** A repeated request with the same key creates nothing twice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openBench } from './api-client.ts';

const text = 'The cat sleeps on the harmonium.';

describe('Idempotency-Key', () => {
  const body = { corpus_name: 'a', documents: [{ id: 'cat', text }] };

  test('the same key and body return the original job', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask('POST /jobs', { body, headers });
    const second = await ask('POST /jobs', { body, headers });
    assert.deepEqual([second.status, second.body], [202, first.body]);
    assert.equal(first.headers.get('idempotency-replayed'), null);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    const other = await ask('POST /jobs', { body, headers: { 'idempotency-key': 'k2' } });
    assert.notEqual(other.body.job_id, first.body.job_id);
  });

  test('a job that has ended since is returned in its current state', async (t) => {
    const { ask, ended } = await openBench(t);
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask('POST /jobs', { body, headers });
    await ended(String(first.body.job_id));
    const again = await ask('POST /jobs', { body, headers });
    assert.deepEqual(again.body, { ...first.body, status: 'done', state: 'succeeded' });
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  });

  test('the same body with its keys in another order is the same request', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask('POST /jobs', { body, headers });
    const turned = { documents: [{ text, id: 'cat' }], corpus_name: 'a' };
    assert.deepEqual((await ask('POST /jobs', { body: turned, headers })).body, first.body);
  });

  test('the same key with another body is refused with 422', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'k1' };
    await ask('POST /jobs', { body, headers });
    const changed = { ...body, corpus_name: 'b' };
    const answer = await ask('POST /jobs', { body: changed, headers });
    assert.deepEqual([answer.status, answer.body.code], [422, 'idempotency_conflict']);
  });

  test('200 concurrent requests with one key create exactly one job', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'storm' };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => ask('POST /jobs', { body, headers })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    assert.equal(new Set(answers.map((answer) => answer.body.job_id)).size, 1);
    assert.equal(((await ask('GET /jobs')).body.items as unknown[]).length, 1);
  });

  test('an accepted request is answered again while the queue is full', async (t) => {
    const { ask, service } = await openBench(t, { work: false, queueDepthMax: 1 });
    const upload = async (key: string, words: string): Promise<Response> => {
      const form = new FormData();
      form.set('corpus_name', 'a');
      form.append('file', new Blob([words]), 'cat.txt');
      const headers = { 'idempotency-key': key };
      return fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form, headers });
    };
    const headers = { 'idempotency-key': 'k1' };
    const first = await ask('POST /jobs', { body, headers });
    const uploaded = (await (await upload('k2', text)).json()) as { job_id: string };
    const full = await ask('POST /jobs', { body });
    assert.deepEqual([full.status, full.body.code], [429, 'queue_full']);
    const again = await ask('POST /jobs', { body, headers });
    assert.deepEqual([again.status, again.body], [202, first.body]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const second = await upload('k2', text);
    assert.deepEqual([second.status, await second.json()], [202, uploaded]);
    const changed = await ask('POST /jobs', { body: { ...body, corpus_name: 'b' }, headers });
    assert.deepEqual([changed.status, changed.body.code], [422, 'idempotency_conflict']);
    const fresh = await ask('POST /jobs', { body, headers: { 'idempotency-key': 'k3' } });
    assert.deepEqual([fresh.status, fresh.headers.get('retry-after')], [429, '30']);
    assert.equal((await upload('k4', text)).status, 429);
  });

  test('a key that is too long is refused', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const headers = { 'idempotency-key': 'k'.repeat(256) };
    assert.equal((await ask('POST /jobs', { body, headers })).status, 400);
  });
});
