/** Keys, limits, backpressure and audits of the running service. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { startMembership } from '../support/membership.ts';
import { until } from '../support/wait.ts';
import { openBench } from './api-client.ts';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const keys = { ann: 'ann-key-of-the-first', bob: 'bob-key-of-the-second' };
const apiKeys = Object.values(keys).map((key) => `sha256:${hashOf(key)}`);
const withKey = (key: string) => ({ 'x-api-key': key });
const document = { corpus_name: 'a', documents: [{ id: 'x', text: 'A heron waits.' }] };

function auditsIn(lines: readonly string[]): Record<string, unknown>[] {
  return lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'audit');
}

describe('a service with keys', () => {
  test('identifies callers by them, counts their requests, and audits their actions', async (t) => {
    const log: string[] = [];
    const bench = await openBench(t, {
      keys: { apiKeys, rateCapacity: 3, rateFloor: 3 },
      log: { level: 'warn', write: (line) => void log.push(line) },
    });
    const { ask } = bench;
    assert.equal((await ask('GET /jobs')).status, 401);
    const wrong = await ask('GET /jobs', { headers: withKey('some-other-key') });
    assert.deepEqual([wrong.status, wrong.body.code], [401, 'unauthorized']);
    const headers = withKey(keys.ann);
    const first = await ask('POST /jobs', { body: document, headers });
    assert.equal(first.status, 202);
    const limit = Number(first.headers.get('x-ratelimit-limit'));
    assert.equal(first.headers.get('x-ratelimit-remaining'), String(limit - 1));
    assert.ok(Number(first.headers.get('x-ratelimit-reset')) > Date.now() / 1000);
    const audited = (event: string) => auditsIn(log).filter((record) => record.event === event);
    await until(() => audited('job_completed').length === 1, { what: 'the audit of the end' });
    const searching = { body: { corpus_name: 'a', query: 'heron' }, headers };
    assert.equal((await ask('POST /search', searching)).status, 200);
    assert.equal(
      (await ask('POST /search', { ...searching, headers: withKey(keys.bob) })).status,
      404,
    );
    for (let asked = 1; asked < limit; asked += 1) await ask('GET /jobs', { headers });
    const over = await ask('GET /jobs', { headers });
    assert.deepEqual([over.status, over.body.code], [429, 'rate_limit_hit']);
    assert.ok(Number(over.headers.get('retry-after')) > 0);
    assert.equal((await ask('GET /healthz')).status, 200);
    const caller_id = hashOf(keys.ann).slice(0, 16);
    const { job_id } = first.body;
    const partOf = (event: string) => {
      const { level: _, time: __, caller_type: ___, tier: ____, ...rest } = audited(event)[0] ?? {};
      return rest;
    };
    assert.deepEqual(partOf('job_submitted'), {
      ...{ event: 'job_submitted', caller_id, job_id, corpus_name: 'a', url_count: 1 },
    });
    assert.deepEqual(partOf('job_completed'), {
      ...{ event: 'job_completed', caller_id, job_id, corpus_name: 'a' },
    });
    assert.deepEqual(partOf('corpus_searched'), {
      ...{ event: 'corpus_searched', caller_id, corpus_name: 'a', results: 1 },
    });
    assert.deepEqual(
      audited('auth_rejected').map(({ reason }) => reason),
      ['missing', 'invalid'],
    );
    assert.equal(audited('rate_limit_hit')[0]?.route, 'GET /jobs');
    for (const key of [...Object.values(keys), 'some-other-key']) {
      assert.ok(!log.join('').includes(key), 'a key is in the log');
    }
  });

  test('refuses other hosts only without keys', async (t) => {
    const open = { host: '0.0.0.0', keys: {} };
    await assert.rejects(openBench(t, open), { code: 'usage_error' });
    const { ask } = await openBench(t, { keys: { apiKeys }, work: false });
    assert.equal((await ask('GET /jobs', { headers: withKey(keys.ann) })).status, 200);
  });

  test('audits the end of a job with the type and tier of its caller', async (t) => {
    const membership = await startMembership(t);
    const claims = { caller_id: 'acct_dora', caller_type: 'user', tier: 'pro' };
    membership.reply = () => ({ status: 200, body: JSON.stringify(claims) });
    const log: string[] = [];
    const { submit } = await openBench(t, {
      keys: { membershipUrl: membership.url },
      log: { level: 'warn', write: (line) => void log.push(line) },
    });
    const texts = { good: 'A heron waits beside the weir.', bad: '' };
    for (const [id, text] of Object.entries(texts)) {
      await submit({ corpus_name: 'a', documents: [{ id, text }] }, withKey(keys.ann));
    }
    const kinds = ['job_submitted', 'job_completed', 'job_failed'];
    const found = (kind: string) => auditsIn(log).find(({ event }) => event === kind);
    await until(() => kinds.every((kind) => found(kind) !== undefined), { what: 'all audits' });
    for (const kind of kinds) {
      const { caller_id, caller_type, tier } = found(kind) ?? {};
      assert.deepEqual([caller_id, caller_type, tier], ['acct_dora', 'user', 'pro'], kind);
    }
  });

  test('audits the failed job of a caller, with stage and code', async (t) => {
    const log: string[] = [];
    const bench = await openBench(t, {
      keys: { apiKeys },
      log: { level: 'warn', write: (line) => void log.push(line) },
    });
    const empty = { corpus_name: 'a', documents: [{ id: 'x', text: '' }] };
    await bench.submit(empty, withKey(keys.ann));
    const failed = () => auditsIn(log).find(({ event }) => event === 'job_failed');
    await until(() => failed() !== undefined, { what: 'the audit of the failure' });
    assert.equal(failed()?.code, 'empty_source');
    assert.equal(failed()?.failed_stage, 'scraping');
  });
});

test('a full queue refuses new work of every caller', async (t) => {
  const { ask } = await openBench(t, { work: false, queueDepthMax: 1 });
  assert.equal((await ask('POST /jobs', { body: document })).status, 202);
  const again = { ...document, documents: [{ id: 'y', text: 'A stork waits.' }] };
  assert.equal((await ask('POST /jobs', { body: again })).status, 202);
  const refused = await ask('POST /jobs', { body: document });
  assert.deepEqual([refused.status, refused.body.code], [429, 'queue_full']);
  assert.equal(refused.headers.get('retry-after'), String(limits.rate.queueRetryAfterMs / 1000));
});

describe('a service behind Membership', () => {
  async function membership(t: TestContext, answer: () => number): Promise<string> {
    const server: Server = createServer((request, response) => {
      request.resume();
      response.writeHead(answer()).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('accepts known keys, and answers 503 while Membership is unreachable', async (t) => {
    let status = 201;
    const membershipUrl = await membership(t, () => status);
    const { ask } = await openBench(t, { keys: { membershipUrl }, work: false });
    assert.equal((await ask('GET /jobs', { headers: withKey('known') })).status, 200);
    const ready = await ask<{ ready: boolean; checks: { membership: { ok: boolean } } }>(
      'GET /readyz',
    );
    assert.deepEqual([ready.body.ready, ready.body.checks.membership.ok], [true, true]);
    status = 409;
    assert.equal((await ask('GET /jobs', { headers: withKey('unknown') })).status, 401);
    status = 500;
    for (let asked = 0; asked < 4; asked += 1) {
      const {
        status: told,
        headers,
        body,
      } = await ask('GET /jobs', {
        headers: withKey(`new-${asked}`),
      });
      assert.deepEqual([told, body.code], [503, 'membership_unavailable']);
      assert.ok(Number(headers.get('retry-after')) > 0);
    }
    assert.equal((await ask('GET /jobs', { headers: withKey('known') })).status, 200);
    const later = await ask<{ ready: boolean; checks: { membership: { ok: boolean } } }>(
      'GET /readyz',
    );
    assert.deepEqual([later.body.ready, later.body.checks.membership.ok], [true, false]);
    const metrics = (await ask<string>('GET /metrics')).body;
    assert.match(metrics, /^pawl_dependency_ready\{dependency="membership"\} 0$/m);
  });
});
