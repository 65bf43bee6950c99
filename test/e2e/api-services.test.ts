/** The services and the callbacks over HTTP, in the process with all roles. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { signedHeaders } from '../../src/handoff/signature.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { startOpenaiServer } from '../support/openai-server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';
import { askGateway } from './gateway-client.ts';
import { openSite } from './web-site.ts';

const internalKey = 'an-internal-key-of-24-or-more';
const internal = { 'x-api-key': internalKey };
const keys = { internalKey };

/** A server that accepts a request and never answers. */
async function openSilence(t: Cleanup): Promise<string> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the synchronous services', () => {
  test('a page is read, a text is chunked, and texts become vectors', async (t) => {
    const site = await openSite(t);
    const { ask } = await openBench(t, { allowHosts: [site.host] });
    const url = `${site.origin}/harmonium`;
    const page = await ask('POST /scrape', { body: { url, job_id: 'job-7' } });
    assert.equal(page.status, 200, JSON.stringify(page.body));
    const { title, text, markdown, job_id, final_url, media_type } = page.body;
    assert.deepEqual(
      [title, job_id, final_url, media_type],
      ['harmonium', 'job-7', url, 'text/html'],
    );
    assert.match(String(text), /plays by itself at night/);
    const cut = await ask<{ chunks: { text: string; tokens: number }[] }>('POST /chunk', {
      body: { text: markdown },
    });
    assert.equal(cut.status, 200);
    const texts = cut.body.chunks.map((chunk) => chunk.text);
    assert.match(texts.join(' '), /plays by itself/);
    const { status, body } = await ask<{ embeddings: number[][]; dimensions: number }>(
      'POST /embed',
      { body: { texts: [...texts, 'Something else about goats.'] } },
    );
    assert.equal(status, 200);
    assert.equal(body.embeddings.length, texts.length + 1);
    for (const vector of body.embeddings) {
      assert.equal(vector.length, body.dimensions);
      assert.ok(Math.abs(Math.hypot(...vector) - 1) < 0.01);
    }
  });

  test('a timeout is a 504 that names the queue, and other requests are answered', async (t) => {
    const host = await openSilence(t);
    const syncMs = { scraping: 300, chunking: 100, embedding: 300 };
    const { ask } = await openBench(t, { allowHosts: [host], syncMs });
    const slow = await ask('POST /scrape', { body: { url: `http://${host}/slow` } });
    assert.deepEqual([slow.status, slow.body.code], [504, 'timeout_soft']);
    assert.match(String(slow.body.detail), /POST \/enqueue/);
    const text = 'Words and words without an end. '.repeat(300_000);
    const long = await ask('POST /chunk', { body: { text } });
    assert.deepEqual([long.status, long.body.code], [504, 'timeout_soft']);
    // A tenth of a second may be too short on a busy machine, but not every time.
    const short = () => ask('POST /chunk', { body: { text: 'Words.' } });
    await until(async () => (await short()).status === 200, { what: 'chunks of a short text' });
  });

  test('a model that does not answer is a 504, before the connection counts as idle', async (t) => {
    const provider = await startOpenaiServer(t);
    provider.script = () => new Promise(() => undefined);
    // All times are divided by ten, so that the test also proves the real ones.
    const scaled = (timeMs: number): number => timeMs / 10;
    const { ask } = await openBench(t, {
      embedder: { choice: 'openai:tiny', url: provider.url },
      syncMs: { embedding: scaled(limits.step.syncMs.embedding) },
      idleMs: scaled(limits.request.idleMs),
    });
    const slow = await ask('POST /embed', { body: { texts: ['A heron.'] } });
    assert.deepEqual([slow.status, slow.body.code], [504, 'timeout_soft']);
  });

  test('work is aborted when its client disconnects', async (t) => {
    const [asked, left] = [makeLatch(), makeLatch()];
    const server = createServer((_, response) => {
      asked.open();
      response.once('close', left.open);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close().closeAllConnections());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { service } = await openBench(t, { allowHosts: [host] });
    const client = new AbortController();
    const askedAt = performance.now();
    const waiting = fetch(`${service.address}/scrape`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `http://${host}/slow` }),
      signal: client.signal,
    });
    await asked.opened;
    client.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    // Before the timeout of a page.
    await left.opened;
    assert.ok(performance.now() - askedAt < limits.step.syncMs.scraping);
  });

  test('the time limits are the documented ones', () => {
    const { scraping, chunking, embedding } = limits.step.syncMs;
    assert.deepEqual([scraping, chunking, embedding], [30_000, 10_000, 60_000]);
  });

  test('an unreadable page is refused with the code of its cause', async (t) => {
    const site = await openSite(t);
    site.break('/gone');
    const { ask } = await openBench(t, { allowHosts: [site.host] });
    const asked: readonly [string, number, string][] = [
      [`${site.origin}/gone`, 422, 'http_404'],
      ['http://127.0.0.1:1/', 403, 'private_address'],
      ['ftp://example.com/', 400, 'invalid_url'],
    ];
    for (const [url, status, code] of asked) {
      const answer = await ask('POST /scrape', { body: { url } });
      assert.deepEqual([answer.status, answer.body.code], [status, code], url);
    }
    const model = await ask('POST /embed', { body: { texts: ['a'], model: 'somebody-else' } });
    assert.deepEqual([model.status, model.body.code], [400, 'bad_request']);
    const misspelt = await ask('POST /chunk', { body: { txt: 'a' } });
    assert.equal(misspelt.status, 400);
  });
});

describe('callbacks', () => {
  const done = { stage: 'scraping', status: 'success', result: {} };
  const open = async (t: Cleanup) => {
    const log: string[] = [];
    const real = realWorld();
    let aheadMs = 0;
    const ahead = (timeMs: number): void => {
      aheadMs += timeMs;
    };
    const bench = await openBench(t, {
      ...{ keys, work: false, world: { ...real, now: () => real.now() + aheadMs } },
      log: { level: 'info', write: (line) => void log.push(line) },
    });
    const documents = [{ id: 'cat', text: 'The cat sleeps.' }];
    const id = await bench.submit({ corpus_name: 'a', documents });
    const told = () => log.map((line) => JSON.parse(line) as Record<string, unknown>);
    return { ...bench, id, told, world: { ahead } };
  };

  test('a refused one is audited, and logged as a warning', async (t) => {
    const { ask, id, told } = await open(t);
    const route = '/jobs/:id/complete';
    const complete = (headers: Record<string, string>, job = id) =>
      ask('POST /jobs/:id/complete', { params: { id: job }, body: done, headers });
    await complete({});
    await complete({ 'x-pawl-signature': 'nonsense' });
    await complete(internal, 'nobody');
    await complete(internal);
    const refused = [
      { route, job_id: id, code: 'forbidden' },
      { route, job_id: id, code: 'forbidden' },
      { route, job_id: 'nobody', code: 'job_unknown' },
    ];
    const shown = (is: (line: Record<string, unknown>) => boolean) =>
      told()
        .filter(is)
        .map(({ route: at, job_id, code }) => ({ route: at, job_id, code }));
    assert.deepEqual(
      shown(({ event }) => event === 'callback_refused'),
      refused,
    );
    assert.deepEqual(
      shown(({ msg, level }) => msg === 'callback refused' && level === 'warn'),
      refused,
    );
    assert.doesNotMatch(JSON.stringify(told()), new RegExp(internalKey));
  });

  test('a flood of refused ones is partly logged, with the number of the others', async (t) => {
    const { ask, id, told, world } = await open(t);
    const { refusalsMax, refusalsWindowMs } = limits.audit;
    const complete = () => ask('POST /jobs/:id/complete', { params: { id }, body: done });
    const audits = () => told().filter(({ event }) => event === 'callback_refused');
    for (let count = 0; count < refusalsMax + 5; count += 1) {
      assert.equal((await complete()).status, 403);
    }
    assert.equal(audits().length, refusalsMax);
    world.ahead(refusalsWindowMs);
    await complete();
    assert.equal(audits().length, refusalsMax + 1);
    assert.equal(audits().at(-1)?.unsaid, 5);
  });

  test('403 without an internal key, 401 with a wrong one, 404 for an unknown job', async (t) => {
    const { ask, id } = await open(t);
    const complete = (headers: Record<string, string>, job = id) =>
      ask('POST /jobs/:id/complete', { params: { id: job }, body: done, headers });
    const cases: readonly [Record<string, string>, string, number, string][] = [
      [{}, id, 403, 'forbidden'],
      [{ 'x-api-key': 'not-the-internal-key-at-all' }, id, 401, 'unauthorized'],
      [internal, 'nobody', 404, 'job_unknown'],
    ];
    for (const [headers, job, status, code] of cases) {
      const answer = await complete(headers, job);
      assert.deepEqual([answer.status, answer.body.code], [status, code]);
    }
    const late = await complete(internal);
    assert.deepEqual([late.status, late.body], [200, { status: 'already_advanced' }]);
  });

  test('one that names a handoff must be signed over body, path, key and time', async (t) => {
    const { ask, id, service } = await open(t);
    const body = { ...done, handoff: 'a-token', epoch: 1 };
    const plain = await ask('POST /jobs/:id/complete', { params: { id }, body, headers: internal });
    assert.deepEqual([plain.status, plain.body.code], [403, 'forbidden']);
    const path = `/jobs/${id}/complete`;
    const text = JSON.stringify(body);
    const now = Date.now();
    const sign = (key: string, over: string, at: number, where = path) =>
      signedHeaders(key, { method: 'POST', path: where, body: over }, at);
    const send = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.address}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      });
      return [response.status, ((await response.json()) as Record<string, unknown>).code];
    };
    const forged: readonly Record<string, string>[] = [
      sign('another-key-of-24-characters', text, now),
      sign(internalKey, JSON.stringify({ ...body, epoch: 2 }), now),
      sign(internalKey, text, now - 2 * limits.handoff.clockMsMax),
      sign(internalKey, text, now + 2 * limits.handoff.clockMsMax),
      sign(internalKey, text, now, '/jobs/other/complete'),
      { 'x-pawl-signature': 'nonsense' },
      { ...sign(internalKey, text, now), 'x-pawl-digest': '' },
    ];
    for (const headers of forged) {
      assert.deepEqual(await send(headers), [403, 'forbidden'], JSON.stringify(headers));
    }
    const right = await fetch(`${service.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...sign(internalKey, text, now) },
      body: text,
    });
    assert.deepEqual([right.status, await right.json()], [200, { status: 'already_advanced' }]);
  });

  test('several travel in one signed request, and each has its own response', async (t) => {
    const { ask, id, service } = await open(t);
    const beat = { handoff: 'a-token', epoch: 1 };
    const calls = [
      { job_id: id, complete: { ...done, ...beat } },
      { job_id: 'nobody', heartbeat: beat },
      { job_id: id, heartbeat: beat },
      { job_id: id },
    ];
    const unsigned = await ask('POST /callbacks', { body: { calls }, headers: internal });
    assert.deepEqual([unsigned.status, unsigned.body.code], [403, 'forbidden']);
    const text = JSON.stringify({ calls });
    const signed = { method: 'POST', path: '/callbacks', body: text };
    const response = await fetch(`${service.address}/callbacks`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders(internalKey, signed, Date.now()),
      },
      body: text,
    });
    assert.equal(response.status, 200);
    const { replies } = (await response.json()) as { replies: Record<string, unknown>[] };
    const codes = replies.map(({ error }) => (error as { code?: string } | undefined)?.code);
    assert.deepEqual(codes, [undefined, 'job_unknown', undefined, 'bad_request']);
    assert.deepEqual(replies[0], { complete: { status: 'already_advanced' } });
    assert.deepEqual(replies[2], { heartbeat: { status: 'gone' } });
  });

  test('an invalid body is a 400, and one that is too large a 413', async (t) => {
    const { ask, id, service } = await open(t);
    const bad: readonly unknown[] = [
      { stage: 'indexing', status: 'success' },
      { stage: 'scraping', status: 'perhaps' },
      { stage: 'scraping', status: 'failed' },
      { ...done, extra: 1 },
      [],
    ];
    for (const body of bad) {
      const answer = await ask('POST /jobs/:id/complete', {
        params: { id },
        body,
        headers: internal,
      });
      assert.deepEqual(
        [answer.status, answer.body.code],
        [400, 'bad_request'],
        JSON.stringify(body),
      );
    }
    const complete = (length: number) => {
      const body = { ...done, bytes: 'A'.repeat(length) };
      return ask('POST /jobs/:id/complete', { params: { id }, body, headers: internal });
    };
    // The connection ends with this response: a caller that is still sending would see a reset.
    const huge = await askGateway(Number(new URL(service.address).port), `/jobs/${id}/complete`, {
      method: 'POST',
      headers: {
        ...internal,
        'content-type': 'application/json',
        'content-length': String(limits.handoff.bodyBytesMax + 1),
      },
      body: '{',
    });
    assert.deepEqual([huge.status, huge.json().code], [413, 'payload_too_large']);
    // A page with its text is larger than other callers may send.
    assert.equal((await complete(limits.request.bodyBytesMax)).status, 200);
  });

  test('callbacks are not counted against the rate limit of their caller', async (t) => {
    const { ask, id } = await open(t);
    const params = { id };
    const answer = await ask('POST /jobs/:id/complete', { params, body: done, headers: internal });
    assert.equal(answer.headers.get('x-ratelimit-limit'), null);
    const listed = await ask('GET /jobs', { headers: internal });
    assert.notEqual(listed.headers.get('x-ratelimit-limit'), null);
  });
});
