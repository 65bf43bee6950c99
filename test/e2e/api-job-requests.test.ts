/** Optional fields of jobs, and filters of the job list. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

const text = 'The cat sleeps on the harmonium.';

describe('the corpus of a job', () => {
  test('is `default` if none is named', async (t) => {
    const { ask, submit, service } = await openBench(t, { work: false });
    const documents = [{ text }];
    const ids = [await submit({ documents }), await submit({ documents, corpus_name: null })];
    const form = new FormData();
    form.set('file', new Blob([text]), 'a.txt');
    const sent = await fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form });
    ids.push(((await sent.json()) as { job_id: string }).job_id);
    for (const id of ids) {
      const { body } = await ask('GET /jobs/:id', { params: { id } });
      assert.equal(body.corpus_name, 'default');
    }
    const { body } = await ask<{ items: unknown[] }>('GET /jobs', {
      query: { corpus_name: 'default' },
    });
    assert.equal(body.items.length, ids.length);
  });

  test('must be a valid name, and the refusal describes it', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const body = { url: 'https://example.com/', corpus_name: 'My Corpus' };
    const answer = await ask('POST /jobs', { body });
    assert.deepEqual([answer.status, answer.body.code], [400, 'bad_request']);
    const { detail } = answer.body;
    assert.match(String(detail), /corpus_name must be a corpus name: 1 to 64 of a-z, 0-9/);
    const { body: sought } = await ask('POST /search', {
      body: { corpus_name: 'My Corpus', query: 'a' },
    });
    assert.match(String(sought.detail), /must be a corpus name/);
  });
});

describe('a field of an upload', () => {
  const refused: readonly [field: string, text: string][] = [
    ['priority', ''],
    ['priority', ' '],
    ['priority', '0x1'],
    ['priority', 'high'],
    ['priority', '1e999'],
    ['budget_cents', ''],
    ['max_wall_seconds', 'Infinity'],
    ['force', 'yes'],
    ['force', ''],
  ];

  test('with a wrong value is refused by name', async (t) => {
    const { ask, service } = await openBench(t, { work: false });
    for (const [field, value] of refused) {
      const form = new FormData();
      form.set(field, value);
      form.set('file', new Blob([text]), 'a.txt');
      const sent = await fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form });
      const { detail } = (await sent.json()) as { detail: string };
      assert.equal(sent.status, 400, `${field}=${value}`);
      assert.match(detail, new RegExp(`^${field} must be `));
    }
    assert.deepEqual((await ask('GET /jobs')).body.items, []);
  });
});

describe('the list of jobs', () => {
  test('can be filtered by creation time', async (t) => {
    const { submit, ask } = await openBench(t, { work: false });
    const made: { job_id: string; created_at: string }[] = [];
    for (const name of ['one', 'two', 'three']) {
      const id = await submit({ corpus_name: name, documents: [{ text }] });
      const { body } = await ask<{ created_at: string }>('GET /jobs/:id', { params: { id } });
      const { created_at } = body;
      made.push({ job_id: id, created_at });
      await until(() => Date.now() > Date.parse(created_at), { what: 'the next millisecond' });
    }
    const list = async (query: Record<string, string>) => {
      const { body } = await ask<{ items: { job_id: string }[] }>('GET /jobs', { query });
      return body.items.map(({ job_id }) => made.findIndex((job) => job.job_id === job_id));
    };
    const [, second, third] = made.map(({ created_at }) => created_at);
    assert.deepEqual(await list({ created_after: String(second) }), [2, 1]);
    assert.deepEqual(await list({ created_before: String(second) }), [0]);
    const both = { created_after: String(second), created_before: String(third) };
    assert.deepEqual(await list(both), [1]);
    assert.deepEqual(await list({ ...both, status: 'failed' }), []);
    const odd = await ask('GET /jobs', { query: { created_after: 'yesterday' } });
    assert.deepEqual([odd.status, odd.body.code], [400, 'bad_request']);
  });
});
