/** Versioned paths, bearer keys, and pages of other origins (CORS). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { openBench } from './api-client.ts';

const key = 'a-key-that-is-long-enough';
const keys = { apiKeys: [`sha256:${createHash('sha256').update(key).digest('hex')}`] };
const origin = 'https://app.example.com';

describe('paths below /v1', () => {
  test('have the same responses as those without a version', async (t) => {
    const { service, submit, ended } = await openBench(t);
    const documents = [{ id: 'note', text: 'A heron waits.' }];
    const id = await submit({ corpus_name: 'a', documents });
    await ended(id);
    for (const path of ['/jobs', `/jobs/${id}`, '/corpora/a', '/healthz', '/openapi.json']) {
      const [plain, versioned] = await Promise.all(
        ['', '/v1'].map(async (prefix) =>
          (await fetch(`${service.address}${prefix}${path}`)).json(),
        ),
      );
      assert.deepEqual(versioned, plain, path);
    }
    const stream = await fetch(`${service.address}/v1/jobs/${id}/stream`);
    assert.match(await stream.text(), /event: event/);
    const missing = await fetch(`${service.address}/v1/nothing`);
    const { detail } = (await missing.json()) as { detail: string };
    assert.deepEqual([missing.status, detail], [404, 'there is no GET /v1/nothing']);
    for (const path of ['/v2/jobs', '/v1/v1/jobs', '/v1//jobs']) {
      assert.equal((await fetch(`${service.address}${path}`)).status, 404, path);
    }
  });
});

describe('a key', () => {
  const accepted: readonly [string, Record<string, string>, number][] = [
    ['X-API-Key', { 'x-api-key': key }, 200],
    ['Authorization: Bearer', { authorization: `Bearer ${key}` }, 200],
    ['a lower-case scheme', { authorization: `bearer ${key}` }, 200],
    ['another scheme', { authorization: `Basic ${key}` }, 401],
    ['a wrong bearer', { authorization: 'Bearer wrong-key-of-somebody' }, 401],
    [
      'a wrong X-API-Key beside a right bearer',
      { 'x-api-key': 'x', authorization: `Bearer ${key}` },
      401,
    ],
    ['no key', {}, 401],
  ];
  test('is taken from either header', async (t) => {
    const { ask, lines } = await openBench(t, { keys, work: false });
    for (const [title, headers, status] of accepted) {
      assert.equal((await ask('GET /jobs', { headers })).status, status, title);
    }
    assert.ok(!lines.some((line) => line.includes(key)), 'a key was logged');
  });
});

describe('pages of other origins', () => {
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type, x-api-key',
  };

  test('get permission if their origin is configured', async (t) => {
    const { service } = await openBench(t, { keys, work: false, corsOrigins: [origin] });
    const asked = await fetch(`${service.address}/v1/jobs`, {
      method: 'OPTIONS',
      headers: { origin, ...preflight },
    });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get('access-control-allow-origin'), origin);
    assert.match(asked.headers.get('access-control-allow-headers') ?? '', /x-api-key/);
    assert.match(asked.headers.get('access-control-allow-methods') ?? '', /DELETE/);
    assert.equal(asked.headers.get('access-control-allow-credentials'), null);
    assert.match(asked.headers.get('vary') ?? '', /origin/i);
    const cross = { origin, 'sec-fetch-site': 'cross-site', 'x-api-key': key };
    const sent = await fetch(`${service.address}/v1/jobs`, {
      method: 'POST',
      headers: { ...cross, 'content-type': 'application/json' },
      body: JSON.stringify({ documents: [{ id: 'x', text: 'A heron.' }] }),
    });
    assert.equal(sent.status, 202);
    assert.equal(sent.headers.get('access-control-allow-origin'), origin);
    assert.match(sent.headers.get('access-control-expose-headers') ?? '', /retry-after/);
    // A page must be able to read why it was refused.
    const refused = await fetch(`${service.address}/jobs`, { headers: { origin } });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('access-control-allow-origin'), origin);
  });

  test('are refused otherwise', async (t) => {
    const { service } = await openBench(t, { keys, work: false, corsOrigins: [origin] });
    for (const foreign of [
      'https://evil.example',
      `${origin}:8443`,
      'http://app.example.com',
      'null',
    ]) {
      const asked = await fetch(`${service.address}/jobs`, {
        method: 'OPTIONS',
        headers: { origin: foreign, ...preflight },
      });
      assert.equal(asked.headers.get('access-control-allow-origin'), null, foreign);
      const sent = await fetch(`${service.address}/jobs`, {
        method: 'POST',
        headers: { origin: foreign, 'sec-fetch-site': 'cross-site', 'x-api-key': key },
      });
      assert.equal(sent.status, 403, foreign);
    }
  });

  test('get no permission without the setting', async (t) => {
    const { service } = await openBench(t, { work: false });
    const response = await fetch(`${service.address}/jobs`, { headers: { origin } });
    assert.equal(response.headers.get('access-control-allow-origin'), null);
    const asked = await fetch(`${service.address}/jobs`, {
      method: 'OPTIONS',
      headers: { origin, ...preflight },
    });
    assert.equal(asked.status, 403);
  });

  test('may be any with *, but only where keys are configured', async (t) => {
    const { service } = await openBench(t, { keys, work: false, corsOrigins: ['*'] });
    const response = await fetch(`${service.address}/healthz`, { headers: { origin } });
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    await assert.rejects(
      openBench(t, { work: false, corsOrigins: ['*'] }),
      /without keys, PAWL_CORS_ORIGINS must name the origins/,
    );
  });
});
