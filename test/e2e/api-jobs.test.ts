/** The job API as its clients expect it. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { JobDetail } from '../../src/contract/schema/schema.ts';
import { openBench } from './api-client.ts';

const text = 'The cat sleeps on the harmonium.';

let site: Server;
let origin: string;
before(async () => {
  site = createServer((request, response) => {
    const isArticle = request.url === '/article';
    response.writeHead(isArticle ? 200 : request.url === '/robots.txt' ? 404 : 403, {
      'content-type': 'text/html',
    });
    response.end(isArticle ? `<title>The cat</title><main><p>${text} ${text}</p></main>` : 'no');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
after(() => void site.close());

const allowing = () => ({ allowHosts: [new URL(origin).host] });

describe('POST /jobs', () => {
  test('answers 202 with job_id, status pending and url_count 1', async (t) => {
    const { ask } = await openBench(t, { ...allowing(), work: false });
    const body = { url: `${origin}/article`, corpus_name: 'my-corpus' };
    const answer = await ask('POST /jobs', { body });
    assert.equal(answer.status, 202);
    const { job_id, ...rest } = answer.body;
    assert.match(String(job_id), /^[0-9a-f-]{36}$/);
    assert.deepEqual(rest, { status: 'pending', state: 'queued', url_count: 1 });
    const { body: job } = await ask<JobDetail>('GET /jobs/:id', { params: { id: String(job_id) } });
    assert.deepEqual(
      [job.status, job.message, job.url],
      ['pending', 'Job queued', `${origin}/article`],
    );
  });

  test('accepts urls, documents and a crawl, and counts each source once', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const counts = [];
    for (const what of [
      { urls: ['https://example.com/a', 'https://example.com/b', 'https://example.com/a'] },
      { documents: [{ text }, { id: 'dog', html: '<p>Dog' }, { markdown: '# Bird' }] },
      { crawl: { url: 'https://example.com/', depth: 1, limit: 5, include: ['/docs/*'] } },
    ]) {
      const { status, body } = await ask('POST /jobs', { body: { corpus_name: 'a', ...what } });
      counts.push([status, body.url_count]);
    }
    assert.deepEqual(counts, [
      [202, 2],
      [202, 3],
      [202, 1],
    ]);
  });

  const refusals: readonly [title: string, body: unknown, status: number, code: string][] = [
    ['nothing to ingest', { corpus_name: 'a' }, 400, 'sources_empty'],
    [
      'two kinds of sources',
      { corpus_name: 'a', url: 'https://a.b/', urls: ['https://a.b/'] },
      400,
      'bad_request',
    ],
    ['an invalid corpus name', { corpus_name: '../x', url: 'https://a.b/' }, 400, 'bad_request'],
    ['a misspelt field', { corpus_name: 'a', uri: 'https://a.b/' }, 400, 'bad_request'],
    ['a path in place of an address', { corpus_name: 'a', url: '/etc/passwd' }, 400, 'invalid_url'],
    ['a file address', { corpus_name: 'a', url: 'file:///etc/passwd' }, 400, 'invalid_url'],
    [
      'a number in quotes',
      { corpus_name: 'a', url: 'https://a.b/', priority: '1' },
      400,
      'bad_request',
    ],
    [
      'two texts in one document',
      { corpus_name: 'a', documents: [{ text, html: text }] },
      400,
      'bad_request',
    ],
    ['null', null, 400, 'sources_empty'],
    ['a list', [], 400, 'bad_request'],
    ['invalid JSON', '{"corpus_name":', 400, 'bad_request'],
    ['a poisoned prototype', '{"corpus_name":"a","__proto__":{"x":1}}', 400, 'bad_request'],
    [
      'a deep nest',
      `{"corpus_name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      400,
      'bad_request',
    ],
  ];
  test('refuses with a code, and creates nothing', async (t) => {
    const { ask } = await openBench(t, { work: false });
    for (const [title, body, status, code] of refusals) {
      const answer = await ask('POST /jobs', { body });
      assert.deepEqual([answer.status, answer.body.code], [status, code], title);
    }
    assert.deepEqual((await ask('GET /jobs')).body, { items: [], next_cursor: null });
  });

  test('accepts only uncompressed JSON', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const body = { corpus_name: 'a', documents: [{ text }] };
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/xml' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-encoding': 'gzip' },
    ] as Record<string, string>[]) {
      const answer = await ask('POST /jobs', { body, headers });
      assert.deepEqual([answer.status, answer.body.code], [415, 'content_type_unsupported']);
    }
  });
});

describe('GET /jobs/{id}', () => {
  test('shows a success with url, corpus_name, created_at and updated_at', async (t) => {
    const { submit, ended, ask } = await openBench(t, allowing());
    const id = await submit({ url: `${origin}/article`, corpus_name: 'my-corpus' });
    const job = await ended(id);
    assert.deepEqual(
      [job.job_id, job.status, job.url, job.corpus_name, job.message],
      [id, 'done', `${origin}/article`, 'my-corpus', 'Document indexed — ready to search'],
    );
    assert.equal('failed_stage' in job, false);
    assert.equal('error' in job, false);
    const { counters, attempt, partial, eta_seconds } = job as unknown as JobDetail;
    const { duration_seconds, tokens_estimated, ...counted } = counters;
    assert.ok(duration_seconds >= 0 && tokens_estimated >= 0);
    assert.deepEqual(counted, {
      urls_total: 1,
      urls_enqueued: 1,
      urls_processed: 1,
      documents_emitted: 1,
      chunks_indexed: 1,
      steps: { done: 1 },
    });
    assert.deepEqual([attempt, partial, eta_seconds], [1, false, null]);
    const found = await ask<{ results: Record<string, unknown>[]; query_ms: number }>(
      'POST /search',
      { body: { corpus_name: 'my-corpus', query: 'harmonium cat', top_k: 10 } },
    );
    assert.equal(found.body.results[0]?.source_url, `${origin}/article`);
    for (const name of ['chunk_id', 'text', 'score', 'source_url']) {
      assert.ok(name in (found.body.results[0] ?? {}), name);
    }
  });

  test('shows a failure with failed_stage and error', async (t) => {
    const { submit, ended } = await openBench(t, allowing());
    const job = await ended(await submit({ url: `${origin}/no`, corpus_name: 'my-corpus' }));
    assert.deepEqual([job.status, job.state, job.failed_stage], ['failed', 'failed', 'scraping']);
    assert.equal(job.message, 'Could not fetch the URL. Check that it is accessible.');
    const error = job.error as Record<string, unknown>;
    assert.deepEqual(
      [error.stage, error.code, error.error_code, error.kind],
      ['scraping', 'http_403', 'E_403_ORIGIN', 'fatal'],
    );
    assert.match(String(error.message), /\S/);
    assert.match(String(error.at), /^\d{4}-\d\d-\d\dT.*Z$/);
    const { url, attempt, worker_id, domain } = error.context as Record<string, unknown>;
    assert.deepEqual([url, attempt, domain], [`${origin}/no`, 1, '127.0.0.1']);
    assert.match(String(worker_id), /^[0-9a-f]{12}$/);
  });

  test('answers 404 for an unknown id of any form', async (t) => {
    const { ask } = await openBench(t, { work: false });
    for (const id of [
      '550e8400-e29b-41d4-a716-446655440000',
      "' OR 1=1",
      '../x',
      '%00',
      '\u202e',
    ]) {
      const { status, body } = await ask('GET /jobs/:id', { params: { id } });
      assert.ok(status === 404, `${id}: ${status}`);
      assert.match(String(body.code), /^(job|route)_unknown$/);
    }
  });
});

describe('GET /jobs', () => {
  test('lists newest first, by corpus, status, state and failed stage, page by page', async (t) => {
    const { submit, ended, ask, service } = await openBench(t, allowing());
    const ids: string[] = [];
    for (const corpus of ['one', 'two', 'one']) {
      ids.push(await submit({ corpus_name: corpus, documents: [{ text }] }));
    }
    for (const id of ids) await ended(id);
    const failed = await submit({ url: `${origin}/no`, corpus_name: 'one' });
    await ended(failed);
    const list = async (query: Record<string, string | number>) => {
      const { body } = await ask<{ items: { job_id: string }[]; next_cursor: string | null }>(
        'GET /jobs',
        { query },
      );
      return { ids: body.items.map(({ job_id }) => job_id), next: body.next_cursor };
    };
    const [first, second, third] = ids;
    assert.deepEqual((await list({})).ids, [failed, third, second, first]);
    const slash = await fetch(`${service.address}/jobs/?limit=1`);
    assert.equal(slash.status, 200);
    assert.deepEqual((await list({ corpus_name: 'one' })).ids, [failed, third, first]);
    assert.deepEqual((await list({ status: 'done', corpus_name: 'one' })).ids, [third, first]);
    assert.deepEqual((await list({ state: 'failed' })).ids, [failed]);
    assert.deepEqual((await list({ failed_stage: 'scraping' })).ids, [failed]);
    assert.deepEqual((await list({ failed_stage: 'embedding' })).ids, []);
    assert.deepEqual((await list({ status: 'failed', state: 'succeeded' })).ids, []);
    assert.deepEqual((await list({ status: 'pending' })).ids, []);
    const page = await list({ limit: 3 });
    assert.deepEqual(page.ids, [failed, third, second]);
    const rest = await list({ limit: 3, cursor: page.next ?? '' });
    assert.deepEqual(rest, { ids: [first], next: null });
  });

  test('refuses invalid limits and cursors', async (t) => {
    const { ask } = await openBench(t, { work: false });
    for (const query of [
      { limit: 1e9 },
      { limit: -1 },
      { limit: 'ten' },
      { cursor: 'abc' },
      { cursor: '1e309' },
      { status: 'asleep' },
      { tenant: 'x' },
    ] as Record<string, string | number>[]) {
      const { status, body } = await ask('GET /jobs', { query });
      assert.deepEqual([status, body.code], [400, 'bad_request'], JSON.stringify(query));
    }
  });
});

describe('controlling a job', () => {
  test('pause, resume and cancel change its state, and cancel returns a receipt', async (t) => {
    const { submit, ask } = await openBench(t, { work: false });
    const id = await submit({ corpus_name: 'a', documents: [{ text }, { text: `${text} Two.` }] });
    const params = { id };
    assert.deepEqual((await ask('POST /jobs/:id/pause', { params })).body, {
      job_id: id,
      state: 'paused',
    });
    const items = await ask<{ items: { explanation: string }[] }>('GET /jobs/:id/items', {
      params,
    });
    assert.equal(
      items.body.items[0]?.explanation,
      'Its job is paused; it will be fetched when the job is resumed.',
    );
    assert.equal((await ask('POST /jobs/:id/pause', { params })).body.code, 'action_not_allowed');
    assert.equal((await ask('POST /jobs/:id/resume', { params })).body.state, 'queued');
    const { canceled_at, ...receipt } = (await ask('POST /jobs/:id/cancel', { params })).body;
    const canceled = await ask('GET /jobs/:id', { params });
    assert.equal(canceled.body.canceled_at, canceled_at);
    assert.deepEqual(receipt, {
      job_id: id,
      state: 'canceled',
      stopped: { items: 2 },
      kept: { items: 0, documents: 0, chunks: 0 },
      spent: { cost_cents: 0, tokens: { in: 0, out: 0 } },
    });
    assert.equal(canceled.body.status, 'canceled');
    const retried = await ask('POST /jobs/:id/retry', { params });
    assert.deepEqual([retried.body.state, retried.body.items_retried], ['queued', 2]);
  });

  test('an item shows its queue position', async (t) => {
    const { submit, ask } = await openBench(t, { work: false });
    const documents = Array.from({ length: 3 }, (_, index) => ({ text: `${text} ${index}` }));
    const id = await submit({ corpus_name: 'a', documents });
    const { body } = await ask<{ items: { item_id: number; explanation: string }[] }>(
      'GET /jobs/:id/items',
      { params: { id } },
    );
    assert.deepEqual(
      body.items.map(({ explanation }) => explanation),
      [
        'Next in the queue, to be fetched.',
        'In the queue to be fetched, behind one other.',
        'In the queue to be fetched, behind 2 others.',
      ],
    );
    const last = String(body.items.at(-1)?.item_id);
    const one = await ask('GET /items/:id', { params: { id: last } });
    assert.deepEqual([one.body.job_id, one.body.waits_on], [id, 'turn']);
  });
});
