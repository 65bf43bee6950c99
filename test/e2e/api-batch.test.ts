/** Batch tasks over HTTP, and the cheap lane of jobs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from '../../src/client/http.ts';
import type { BatchTask } from '../../src/contract/operation/batch.ts';
import { sessionOf } from '../../src/library/internal.ts';
import { AzureServer } from '../support/batch/azure-server.ts';
import { OpenaiServer } from '../support/batch/openai-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';
import { openRunner } from './pawl-process.ts';

interface List {
  readonly items: readonly BatchTask[];
  readonly next_cursor: string | null;
}

const recordings = {
  task_type: 'transcription',
  provider: 'AZURE',
  urls: ['https://media.example/one.wav', 'nonsense'],
};

async function setup(t: Cleanup, options: { readonly work?: boolean } = {}) {
  const azure = new AzureServer();
  azure.pollsToGo = 1;
  await azure.start(t);
  const batchProviders = { azure: { url: azure.server.url, key: 'key' } };
  const bench = await openBench(t, { batchProviders, batchPollMs: 50, ...options });
  return { azure, bench };
}

/** Resolves when an event of this kind has been streamed. */
async function heard(bench: Bench, kind: string, after: number): Promise<void> {
  const ending = new AbortController();
  const client = new Client({ url: bench.service.address });
  for await (const event of client.follow({ after, signal: ending.signal })) {
    if (event.kind !== kind) continue;
    ending.abort();
    return;
  }
}

describe('POST /batch/tasks', () => {
  test('accepts immediately, before the provider is called', async (t) => {
    const { azure, bench } = await setup(t, { work: false });
    const { status, body } = await bench.ask<BatchTask>('POST /batch/tasks', { body: recordings });
    assert.equal(status, 202);
    assert.deepEqual([body.status, body.state, body.provider], ['PENDING', 'pending', 'AZURE']);
    assert.deepEqual([body.provider_state, body.output], [null, null]);
    assert.deepEqual(body.invalid_urls, ['nonsense']);
    assert.equal(azure.server.calls.length, 0);
    const params = { id: body.task_id };
    assert.deepEqual((await bench.ask('GET /batch/tasks/:id', { params })).body, body);
  });

  test('the same key and body return the same task; another body is refused', async (t) => {
    const { bench } = await setup(t, { work: false });
    const headers = { 'idempotency-key': 'k' };
    const submit = (body: object) => bench.ask<BatchTask>('POST /batch/tasks', { body, headers });
    const first = await submit(recordings);
    const again = await submit(recordings);
    assert.equal(again.body.task_id, first.body.task_id);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const other = await submit({ ...recordings, language: 'de-DE' });
    assert.equal((other.body as unknown as { code: string }).code, 'idempotency_conflict');
    assert.equal((await bench.ask<List>('GET /batch/tasks')).body.items.length, 1);
  });

  const refused: readonly [string, object, number, string][] = [
    ['no type', { provider: 'AZURE', urls: ['https://a.example/'] }, 400, 'bad_request'],
    ['neither urls nor requests', { task_type: 'completion' }, 400, 'bad_request'],
    ['both', { ...recordings, requests: [{ custom_id: 'a', input: 'b' }] }, 400, 'bad_request'],
    ['no address', { ...recordings, urls: [] }, 400, 'bad_request'],
    ['an unknown field', { ...recordings, url: 'https://a.example/' }, 400, 'bad_request'],
    ['a provider that is absent', { ...recordings, provider: 'AWS' }, 422, 'provider_unknown'],
    [
      'a model that nobody has',
      { task_type: 'completion', models: ['x'], requests: [{ custom_id: 'a', input: 'b' }] },
      422,
      'provider_unknown',
    ],
  ];
  test('refuses with a status and a code', async (t) => {
    const { bench } = await setup(t, { work: false });
    for (const [title, body, status, code] of refused) {
      const answer = await bench.ask('POST /batch/tasks', { body });
      assert.deepEqual([answer.status, answer.body.code], [status, code], title);
    }
    assert.deepEqual((await bench.ask<List>('GET /batch/tasks')).body.items, []);
  });
});

describe('a running service', () => {
  test('submits a task, streams its events, and returns its results', async (t) => {
    const { azure, bench } = await setup(t);
    const after = await bench.service.pawl.newestEvent();
    const { body } = await bench.ask<BatchTask>('POST /batch/tasks', { body: recordings });
    const params = { id: body.task_id };
    await heard(bench, 'batch_task_completed', after);
    const { body: task } = await bench.ask<BatchTask>('GET /batch/tasks/:id', { params });
    assert.deepEqual([task.status, task.results_ok, task.actions], ['COMPLETED', 1, []]);
    assert.deepEqual(task.provider_state?.invalid_urls, ['nonsense']);
    assert.equal(azure.server.count(/^POST /), 1);
    const output = await bench.ask('GET /batch/tasks/:id/output', { params });
    const [transcript] = output.body.transcriptions as { text: string }[];
    assert.equal(transcript?.text, 'words of https://media.example/one.wav');
    const late = await bench.ask('POST /batch/tasks/:id/cancel', { params });
    assert.deepEqual([late.status, late.body.code], [409, 'action_not_allowed']);
  });

  test('lists the providers, and what their tasks contain', async (t) => {
    const azure = { url: 'http://127.0.0.1:9', key: 'key' };
    const batchProviders = { openai: azure, azure };
    const bench = await openBench(t, { batchProviders });
    const { body } = await bench.ask('GET /batch/providers');
    assert.deepEqual(body, {
      items: [
        { provider: 'AZURE', task_types: ['transcription'], input: 'urls' },
        { provider: 'OPENAI', task_types: ['completion', 'embedding'], input: 'requests' },
      ],
    });
  });

  test('measures tasks by status, the age of the oldest, and errors of providers', async (t) => {
    const { bench } = await setup(t, { work: false });
    const figure = async (line: string): Promise<number> => {
      const { body } = await bench.ask<string>('GET /metrics');
      const found = body.split('\n').find((each) => each.startsWith(`${line} `));
      return Number(found?.slice(line.length));
    };
    assert.equal(await figure('pawl_batch_oldest_open_seconds'), 0);
    await bench.ask('POST /batch/tasks', { body: recordings });
    assert.equal(await figure('pawl_batch_tasks{status="PENDING"}'), 1);
    assert.equal(await figure('pawl_batch_tasks{status="COMPLETED"}'), 0);
    assert.equal(await figure('pawl_batch_poll_errors'), 0);
    await sessionOf(bench.service.pawl).store.write((transaction) =>
      transaction.run({
        text: 'UPDATE batch_tasks SET created_at = created_at - 60000, poll_errors = 2',
      }),
    );
    assert.equal(await figure('pawl_batch_poll_errors'), 2);
    assert.ok((await figure('pawl_batch_oldest_open_seconds')) >= 60);
  });

  test('cancels a task at its provider', async (t) => {
    const { azure, bench } = await setup(t);
    azure.pollsToGo = Number.POSITIVE_INFINITY;
    const after = await bench.service.pawl.newestEvent();
    const { body } = await bench.ask<BatchTask>('POST /batch/tasks', { body: recordings });
    const params = { id: body.task_id };
    await heard(bench, 'batch_task_submitted', after);
    const none = await bench.ask('GET /batch/tasks/:id/output', { params });
    assert.deepEqual([none.status, none.body.code], [409, 'action_not_allowed']);
    const canceled = await bench.ask<BatchTask>('POST /batch/tasks/:id/cancel', { params });
    assert.deepEqual([canceled.status, canceled.body.status], [200, 'CANCELED']);
    await until(() => azure.jobs.size === 0, { what: 'the cancel to reach the provider' });
  });
});

describe('GET /batch/tasks', () => {
  test('lists page by page, newest first, and by state', async (t) => {
    const { bench } = await setup(t, { work: false });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { body } = await bench.ask<BatchTask>('POST /batch/tasks', { body: recordings });
      ids.unshift(body.task_id);
    }
    const [, second = ''] = ids;
    await bench.ask('POST /batch/tasks/:id/cancel', { params: { id: second } });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: Record<string, string | number> = { limit: 2, ...(cursor && { cursor }) };
      const page = await bench.ask<List>('GET /batch/tasks', { query });
      seen.push(...page.body.items.map(({ task_id }) => task_id));
      cursor = page.body.next_cursor;
    }
    assert.deepEqual(seen, ids);
    const canceled = await bench.ask<List>('GET /batch/tasks', { query: { state: 'canceled' } });
    assert.deepEqual(
      canceled.body.items.map(({ task_id }) => task_id),
      [second],
    );
    const wrong: Record<string, string>[] = [{ state: 'asleep' }, { cursor: 'x' }, { limit: '0' }];
    for (const query of wrong) {
      const { status } = await bench.ask('GET /batch/tasks', { query });
      assert.equal(status, 400, JSON.stringify(query));
    }
  });
});

describe('pawl serve', () => {
  test('completes batch tasks, and exits cleanly while one is at its provider', async (t) => {
    const azure = new AzureServer();
    azure.pollsToGo = 0;
    await azure.start(t);
    const place = openRunner(t);
    const settings = { azure: { url: azure.server.url, key: 'key' } };
    const environment = {
      PAWL_BATCH_PROVIDERS: place.write('providers.json', JSON.stringify(settings)),
      PAWL_BATCH_POLL_SECONDS: '1',
    };
    const serving = place.start(['serve', '--port', '0', '--no-sample'], { environment });
    const [, url = ''] = await serving.seen(/Pawl listens on (http:\/\/127\.0\.0\.1:\d+)/);
    const client = new Client({ url });
    const submit = () => client.ask('POST /batch/tasks', { body: recordings });
    const { task_id: id } = await submit();
    const stateOf = async (task: string) =>
      (await client.ask('GET /batch/tasks/:id', { params: { id: task } })).state;
    await until(async () => (await stateOf(id)) === 'completed', { what: 'its end' });
    const output = await place.run(['batch', 'output', id.slice(0, 8), '--url', url]);
    const { transcriptions } = JSON.parse(output.stdout);
    assert.equal(transcriptions[0]?.text, 'words of https://media.example/one.wav');
    azure.pollsToGo = Number.POSITIVE_INFINITY;
    const { task_id: second } = await submit();
    const isUnderWay = async () => (await stateOf(second)) === 'in_progress';
    await until(isUnderWay, { what: 'the second to be submitted' });
    serving.child.kill('SIGTERM');
    assert.equal((await serving.finished).code, 0);
  });
});

describe('pawl batch with --url', () => {
  test('submits, lists, shows and cancels over HTTP, and opens no store', async (t) => {
    const { bench } = await setup(t, { work: false });
    const url = ['--url', bench.service.address];
    const place = openRunner(t);
    place.write('task.json', JSON.stringify(recordings));
    place.write('bad.json', '{"task_type": 7}');
    const submit = await place.run(['batch', 'submit', 'task.json', '--json', ...url]);
    assert.equal(submit.code, 0, submit.stderr);
    const { task_id: id } = JSON.parse(submit.stdout) as BatchTask;
    const shown = await place.run(['batch', 'show', id.slice(0, 8), ...url]);
    assert.match(shown.stdout, /pending[\s\S]*nonsense[\s\S]*actions +cancel/);
    const canceled = await place.run(['batch', 'cancel', id, ...url]);
    assert.match(canceled.stdout, new RegExp(`canceled batch task ${id}`));
    const list = await place.readOne<List>(['batch', '--state', 'canceled', ...url]);
    assert.deepEqual([list.items.map(({ task_id }) => task_id), list.next_cursor], [[id], null]);
    const bad = await place.run(['batch', 'submit', 'bad.json', ...url]);
    assert.deepEqual([bad.code, /bad_request/.test(bad.stderr)], [1, true]);
    const none = await place.run(['batch', 'show', 'zzz', ...url]);
    assert.deepEqual([none.code, /no batch task zzz/.test(none.stderr)], [1, true]);
    assert.match((await place.run(['batch'])).stderr, /there is no store/);
  });
});

describe('the cheap lane over HTTP', () => {
  test('sends the requests of a job as a batch, whose task its caller sees', async (t) => {
    const server = new OpenaiServer();
    server.answer = () => ({
      content: JSON.stringify({ entities: [{ name: 'Ada', kind: 'person', mentions: ['Ada'] }] }),
    });
    await server.start(t);
    const bench = await openBench(t, {
      extractor: { model: 'gpt-4o-mini', url: server.url, key: 'key' },
      batchProviders: { openai: { url: server.url, key: 'key' } },
      batchPollMs: 50,
      batchGatherMs: 0,
    });
    const documents = [{ id: 'a', text: 'Ada repaired the bridge in spring.' }];
    const id = await bench.submit({ corpus_name: 'notes', lane: 'cheap', documents });
    const job = await bench.ended(id);
    assert.deepEqual([job.state, job.lane], ['succeeded', 'cheap']);
    assert.equal(server.batches.size, 1);
    assert.equal(server.server.count(/chat\/completions/), 0);
    const { body } = await bench.ask<List>('GET /batch/tasks');
    assert.deepEqual(
      body.items.map(({ task_type, status }) => [task_type, status]),
      [['completion', 'COMPLETED']],
    );
  });

  test('is a field of uploads, of the client and of pawl ingest --url', async (t) => {
    const bench = await openBench(t);
    const client = new Client({ url: bench.service.address });
    const files = [{ name: 'a.txt', blob: new Blob(['A heron.']) }];
    const lanes: unknown[] = [];
    for (const lane of [undefined, 'now', 'cheap'] as const) {
      const { job_id } = await client.upload({ corpus_name: 'a', files, lane });
      lanes.push((await client.ask('GET /jobs/:id', { params: { id: job_id } })).lane);
    }
    assert.deepEqual(lanes, ['now', 'now', 'cheap']);
    const place = openRunner(t);
    place.write('b.txt', 'A crane.');
    const args = ['ingest', 'b.txt', '--corpus', 'b', '--lane', 'cheap'];
    const ingested = await place.run([...args, '--url', bench.service.address]);
    assert.equal(ingested.code, 0, ingested.stderr);
    const { items } = await client.ask('GET /jobs', { query: { corpus_name: 'b' } });
    assert.equal(items[0]?.lane, 'cheap');
    const form = new FormData();
    form.set('corpus_name', 'a');
    form.set('lane', 'fast');
    form.append('file', new Blob(['A heron.']), 'a.txt');
    const address = `${bench.service.address}/jobs/upload`;
    const response = await fetch(address, { method: 'POST', body: form });
    const { detail } = (await response.json()) as { detail: string };
    assert.deepEqual([response.status, detail], [400, 'lane must be now or cheap, not fast']);
    const body = { corpus_name: 'a', lane: 'fast', documents: [{ text: 'A heron.' }] };
    assert.equal((await bench.ask('POST /jobs', { body })).status, 400);
  });
});
