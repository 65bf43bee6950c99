/** The interactive attempt over HTTP, in a real service with real parser processes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Attempt, Staged } from '../../src/contract/operation/attempt.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import type { Access } from '../../src/service/access.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Cleanup, temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

async function setup(t: Cleanup, options: Parameters<typeof openBench>[1] = {}) {
  const data = temporaryDirectory(t);
  const bench = await openBench(t, { data, ...options });
  const stage = async (form: FormData, headers: Record<string, string> = {}) => {
    const url = `${bench.service.address}/staging`;
    const response = await fetch(url, { method: 'POST', body: form, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const look = async (): Promise<Attempt> => (await bench.ask<Attempt>('GET /attempt')).body;
  const folders = () => readdirSync(join(data, 'attempts'));
  return { ...bench, data, stage, look, folders };
}

function filesOf(files: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(files)) form.append('file', new Blob([text]), name);
  return form;
}

const arrived = (bench: { look(): Promise<Attempt> }, status: Attempt['status']) =>
  until(async () => ((await bench.look()).status === status ? bench.look() : undefined), {
    what: `an attempt that is ${status}`,
  });

/** Collects the events of a stream by name. */
async function listen(t: Cleanup, { service }: Bench, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  t.after(() => abort.abort());
  const response = await fetch(`${service.address}/stream`, { signal: abort.signal, headers });
  const events: { event: string; id: string | undefined; data: Record<string, unknown> }[] = [];
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + Buffer.from(piece).toString()).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        const text = field('data');
        if (text === undefined) continue;
        const event = field('event') ?? 'message';
        events.push({ event, id: field('id'), data: JSON.parse(text) });
      }
    }
  };
  read().catch((error) => {
    if (!abort.signal.aborted) throw error;
  });
  return events;
}

describe('the attempt', () => {
  test('turns uploaded files into a job that indexes them', async (t) => {
    const bench = await setup(t);
    assert.deepEqual(await bench.look(), {
      status: 'idle',
      phase: 'not_started',
      attempt_id: null,
      staged_work_remaining: false,
      actions: ['start'],
      safe_to_leave: true,
      corpus_name: null,
      draft: false,
      sources: null,
      job_id: null,
      trouble: null,
      occupied: false,
    });
    const staged = await bench.stage(
      filesOf({
        'birds/heron.html': '<html><body><p>A heron waits in the reeds for fish.</p></body></html>',
        'owl.md': '# Owl\n\nAn owl hunts at night.',
      }),
    );
    assert.equal(staged.status, 201);
    const started = await bench.ask<Attempt>('POST /attempt/start', {
      body: { corpus_name: 'birds' },
    });
    assert.equal(started.status, 202);
    assert.equal(started.body.status, 'running');
    assert.equal(started.body.safe_to_leave, false);
    const complete = await arrived(bench, 'complete');
    assert.ok(complete.job_id);
    const job = await bench.ended(complete.job_id);
    assert.deepEqual([job.state, job.items_done], ['succeeded', 2]);
    const found = await bench.ask<{ results: { source_url: string }[] }>('POST /search', {
      body: { corpus_name: 'birds', query: 'heron in the reeds' },
    });
    assert.equal(found.body.results[0]?.source_url, 'upload:birds/heron.html');
    assert.deepEqual((await bench.ask<{ items: Staged[] }>('GET /staging')).body.items, []);
  });

  test('reports the result of each source: new, changed, unchanged, repeated', async (t) => {
    const bench = await setup(t);
    const start = () => bench.ask('POST /attempt/start', { body: { corpus_name: 'notes' } });
    await bench.stage(filesOf({ 'a.txt': 'first', 'b.txt': 'second' }));
    await start();
    const { job_id: id } = await arrived(bench, 'complete');
    await bench.ended(id ?? '');
    const plans = new Map<unknown, unknown>();
    const events = await listen(t, bench);
    await bench.stage(
      filesOf({
        'a.txt': 'first',
        'b.txt': 'second, changed',
        'c.txt': 'third',
        'd.txt': 'third',
        'e.txt': 'first',
        'f.bin': 'no\0text',
      }),
    );
    await start();
    await arrived(bench, 'complete');
    await until(() => events.some(({ data }) => data.status === 'complete'), { what: 'the end' });
    for (const { event, data } of events) {
      if (event === 'attempt_source') plans.set(data.name, data.plan);
    }
    assert.deepEqual(Object.fromEntries(plans), {
      'a.txt': 'skip',
      'b.txt': 'replace',
      'c.txt': 'add',
      'd.txt': 'skip',
      'e.txt': 'skip',
      'f.bin': 'refuse',
    });
    const { items } = (await bench.ask<{ items: Staged[] }>('GET /staging')).body;
    assert.deepEqual(
      items.map(({ name, status, code }) => [name, status, code]),
      [['f.bin', 'refused', 'unsupported_mime']],
    );
    assert.equal((await bench.ask('DELETE /staging')).body.removed, 1);
  });

  test('is streamed without event numbers, between events without a gap', async (t) => {
    const bench = await setup(t);
    const events = await listen(t, bench, { 'last-event-id': '0' });
    await bench.stage(filesOf({ 'a.txt': 'text' }));
    await bench.ask('POST /attempt/start', { body: { corpus_name: 'notes' } });
    const { job_id: id } = await arrived(bench, 'complete');
    await bench.ended(id ?? '');
    await until(() => events.some(({ data }) => data.kind === 'job_succeeded'), { what: 'end' });
    const told = events.filter(({ event }) => event.startsWith('attempt'));
    assert.ok(told.length >= 6);
    assert.ok(told.every((each) => each.id === undefined));
    const phases = told.flatMap(({ event, data }) => (event === 'attempt' ? [data.phase] : []));
    assert.deepEqual(
      [...new Set(phases)],
      ['preflight', 'parsing', 'splitting', 'atomic_text_commit', 'text_committed', 'not_started'],
    );
    const numbers = events.flatMap((each) => (each.id === undefined ? [] : [Number(each.id)]));
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
  });

  test('fetches addresses within the rules of their site', async (t) => {
    const site = createServer((request, response) => {
      const pages: Readonly<Record<string, string>> = {
        '/robots.txt': 'User-agent: *\nDisallow: /private\nCrawl-delay: 0\n',
        '/heron': '<html><body><p>A heron waits in the reeds for fish.</p></body></html>',
      };
      const page = pages[request.url ?? ''];
      const type = request.url === '/robots.txt' ? 'text/plain' : 'text/html';
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': type }).end(page);
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    t.after(() => void site.close());
    const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    const bench = await setup(t, { allowHosts: [host] });
    const form = new FormData();
    for (const path of ['heron', 'private', 'absent']) form.append('url', `http://${host}/${path}`);
    form.append('url', 'http://10.0.0.1/');
    await bench.stage(form);
    await bench.ask('POST /attempt/start', { body: { corpus_name: 'birds' } });
    const { job_id: id } = await arrived(bench, 'complete');
    const job = await bench.ended(id ?? '');
    assert.deepEqual(
      [job.state, job.items_done, job.url],
      ['succeeded', 1, `http://${host}/heron`],
    );
    const { items } = (await bench.ask<{ items: Staged[] }>('GET /staging')).body;
    assert.deepEqual(
      items.map(({ code }) => code),
      ['robots_disallowed', 'http_404', 'private_address'],
    );
  });

  test('commits on Postgres as well', async (t) => {
    const server = await startPostgres();
    t.after(() => server.stop());
    const bench = await setup(t, { database: await server.createDatabase() });
    await bench.stage(filesOf({ 'a.txt': 'A heron waits.', 'b.txt': 'An owl hunts.' }));
    await bench.ask('POST /attempt/start', { body: { corpus_name: 'birds' } });
    const { job_id: id } = await arrived(bench, 'complete');
    const job = await bench.ended(id ?? '');
    assert.deepEqual([job.state, job.items_done], ['succeeded', 2]);
    await bench.service.close();
  });

  test('refuses an impossible action, and names the possible ones', async (t) => {
    const bench = await setup(t);
    for (const name of ['POST /attempt/stop', 'POST /attempt/resume'] as const) {
      const { status, body } = await bench.ask(name);
      assert.deepEqual([status, body.code], [409, 'action_not_allowed'], name);
    }
    const body = { corpus_name: 'notes' };
    const empty = await bench.ask('POST /attempt/start', { body });
    assert.deepEqual([empty.status, empty.body.code], [400, 'sources_empty']);
    const unknown = await bench.ask('DELETE /staging', { query: { id: 'none' } });
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'source_unknown']);
    const none = await bench.stage(new FormData());
    assert.equal(none.status, 400);
  });

  test('stages addresses and paths, all of a request or none', async (t) => {
    const bench = await setup(t);
    const path = join(bench.data, 'note.txt');
    writeFileSync(path, 'a note');
    const form = filesOf({ 'a.txt': 'text' });
    form.append('url', 'http://example.com/page');
    form.append('path', path);
    assert.equal((await bench.stage(form)).status, 201);
    const wrong = filesOf({ 'other.txt': 'text', 'a.txt': 'a second text of that name' });
    wrong.append('url', 'ftp://example.com/');
    const refused = await bench.stage(wrong);
    assert.deepEqual([refused.status, refused.body.code], [400, 'invalid_url']);
    const { items } = (await bench.ask<{ items: Staged[] }>('GET /staging')).body;
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['upload', 'url', 'file'],
    );
    const removed = await bench.ask('DELETE /staging', {
      query: { id: items.map(({ id }) => id).join(',') },
    });
    assert.equal(removed.body.removed, 3);
  });

  test('neither logs nor returns the path of its files', async (t) => {
    const bench = await setup(t);
    await bench.stage(filesOf({ 'secret-name.txt': 'secret words', 'empty-secret.txt': '' }));
    const answers = [
      await bench.ask('POST /attempt/start', { body: { corpus_name: 'notes' } }),
      await arrived(bench, 'complete'),
      await bench.ask('GET /staging'),
    ];
    const lines = bench.lines.join('\n');
    assert.match(lines, /moved from running to complete/);
    assert.doesNotMatch(lines, /secret/);
    for (const text of [lines, JSON.stringify(answers)]) {
      assert.equal(text.includes(bench.data) || text.includes('staging-'), false);
    }
  });

  test('belongs to one caller, and only local callers may name paths', async (t) => {
    const access: Access = {
      authenticate: async (key) => {
        if (key === undefined) throw new Failure('unauthorized', 'no key');
        const rest = { callerType: 'user' as const, tier: null, scopes: [], rawClaims: {} };
        return { callerId: key, shownId: key, internal: false, ...rest };
      },
      admit: async () => ({
        allowed: true,
        limit: 10,
        remaining: 7,
        windowSeconds: 3600,
        resetAtMs: 0,
        retryAfterSeconds: 3,
      }),
    };
    const bench = await setup(t, { access });
    const ann = { 'x-api-key': 'ann' };
    const bob = { 'x-api-key': 'bob' };
    assert.equal((await bench.stage(filesOf({ 'a.txt': 'text' }), ann)).status, 201);
    const seen = await bench.ask<{ items: Staged[] }>('GET /staging', { headers: bob });
    assert.deepEqual(seen.body.items, []);
    const form = new FormData();
    form.append('path', '/etc/hostname');
    const refused = await bench.stage(form, ann);
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
  });

  test('is discarded when the service ends, and its files are deleted', async (t) => {
    const data = temporaryDirectory(t);
    const bench = await setup(t, { data });
    await bench.stage(filesOf({ 'a.txt': 'text '.repeat(1_000_000), 'b.txt': 'text' }));
    await bench.ask('POST /attempt/start', { body: { corpus_name: 'notes' } });
    await bench.service.close();
    const left = readdirSync(join(data, 'attempts'));
    assert.ok(left.some((name) => name.includes('staging')));
    assert.match(bench.lines.join('\n'), /by app_close/);
  });
});
