/** Hostile requests, row by row: the exact response to each, no changes, no effect on others. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { contract, type Route, type RouteName } from '../../src/contract/contract.ts';
import { manual } from '../../src/contract/manual/manual.ts';
import type { Item, Job } from '../../src/contract/schema/schema.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

const keys = { ann: 'ann-key-of-the-first', bob: 'bob-key-of-the-second' };
const apiKeys = Object.values(keys).map(
  (key) => `sha256:${createHash('sha256').update(key).digest('hex')}`,
);
const text = 'Ada Lovelace saw a heron.';
const document = { corpus_name: 'a', documents: [{ id: 'x', text }] };

const openGuarded = (t: Cleanup, work = false) => openBench(t, { keys: { apiKeys }, work });

/** Sends raw bytes, and returns the response until the connection ends. */
async function raw({ service }: Bench, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(service.address).port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    answer += piece;
  });
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return answer;
}

const asking = (...headers: readonly string[]): string =>
  ['GET /jobs HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', ...headers, '', ''].join('\r\n');

const rawRows: readonly [title: string, bytes: string, status: number, code: string][] = [
  ['no key', asking(), 401, 'unauthorized'],
  ['an empty key', asking('X-API-Key: '), 401, 'unauthorized'],
  ['a key in another scheme', asking(`Authorization: Basic ${keys.ann}`), 401, 'unauthorized'],
  ['a wrong key as a bearer', asking('Authorization: Bearer x'), 401, 'unauthorized'],
  [
    'two keys, both valid',
    asking(`X-API-Key: ${keys.ann}`, `X-API-Key: ${keys.bob}`),
    401,
    'unauthorized',
  ],
  ['a key that is too long', asking(`X-API-Key: ${'k'.repeat(10_000)}`), 401, 'unauthorized'],
  ['a key with letters of no alphabet', asking('X-API-Key: k\xe9y'), 401, 'unauthorized'],
  ['a key with a zero in it', asking('X-API-Key: k\0y'), 400, 'bad_request'],
  [
    'a key in the address',
    asking().replace('/jobs', `/jobs?api_key=${keys.ann}&x-api-key=${keys.ann}`),
    401,
    'unauthorized',
  ],
  [
    'far too many headers',
    asking(`X-API-Key: ${keys.ann}`, ...Array.from({ length: 2001 }, (_, at) => `a${at % 10}: b`)),
    431,
    'headers_too_large',
  ],
  [
    'just more headers than the limit',
    asking(...Array.from({ length: limits.request.headersMax }, () => 'a: b')),
    431,
    'headers_too_large',
  ],
  ['bare line feeds', asking(`X-API-Key: ${keys.ann}`).replaceAll('\r', ''), 400, 'bad_request'],
  ['a space before a colon', asking('X-API-Key : k'), 400, 'bad_request'],
  ['an unknown HTTP version', asking().replace('1.1', '9.9'), 400, 'bad_request'],
  [
    'a negative length',
    `${asking('Content-Length: -1').replace('GET', 'POST')}`,
    400,
    'bad_request',
  ],
  [
    'two lengths',
    `${asking('Content-Length: 1', 'Content-Length: 2').replace('GET', 'POST')}x`,
    400,
    'bad_request',
  ],
];

const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const around = (value: string): string => `{"corpus_name":"a","documents":${value}}`;

const bodies: readonly [title: string, body: string][] = [
  ['just too deeply nested', around(deep(65))],
  ['nested deeply enough to overflow the stack', around(deep(200_000))],
  ['deeply nested in an unknown field', `{"corpus_name":"a","x":${deep(5000)}}`],
  ['null', 'null'],
  ['a number', '1'],
  ['a list', '[]'],
  ['null everywhere', '{"corpus_name":null,"url":null,"documents":null}'],
  ['a number without end', around(`[{"text":"a","id":${'9'.repeat(100_000)}}]`)],
  ['a prototype inside a document', around('[{"text":"a","__proto__":{"id":"x"}}]')],
  ['a constructor with a prototype', around('[{"text":"a","constructor":{"prototype":{}}}]')],
  ['a query for another database', around('[{"text":{"$gt":""}}]')],
  ['a lone quote', '"'],
  ['nothing', ''],
];

describe('strangers', () => {
  test('get an exact response, for every header', async (t) => {
    const bench = await openGuarded(t);
    for (const [title, bytes, status, code] of rawRows) {
      const answer = await raw(bench, bytes);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${title}: ${answer.slice(0, 300)}`);
      assert.ok(answer.includes(`"code":"${code}"`), `${title}: ${answer}`);
      assert.ok(!answer.includes(keys.ann) && !/\.ts|node:/.test(answer), `${title}: ${answer}`);
    }
    assert.equal((await bench.ask('GET /healthz')).status, 200);
  });

  test('whose headers never end are disconnected in time', async (t) => {
    const bench = await openGuarded(t);
    const answer = await raw(bench, 'GET /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\r\n');
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /"code":"request_too_slow"/);
  });

  test('learn how long an idle connection is kept', async (t) => {
    const { headers } = await (await openGuarded(t)).ask('GET /healthz');
    assert.equal(headers.get('keep-alive'), `timeout=${limits.request.keepAliveMs / 1000}`);
  });

  test('with strange bodies are refused, and create no job', async (t) => {
    const { ask } = await openGuarded(t);
    const headers = { 'x-api-key': keys.ann };
    for (const [title, body] of bodies) {
      const { status, body: problem } = await ask('POST /jobs', { body, headers });
      assert.equal(status, 400, `${title}: ${JSON.stringify(problem).slice(0, 300)}`);
      assert.ok(String(problem.detail).length < 1000, title);
    }
    assert.deepEqual((await ask('GET /jobs', { headers })).body.items, []);
    assert.equal(({} as Record<string, unknown>).id, undefined);
  });

  test('with invalid idempotency keys are refused', async (t) => {
    const bench = await openGuarded(t);
    const body = JSON.stringify(document);
    for (const key of ['', 'k'.repeat(256), 'a\tb', 'k\xe9y', '\x7f']) {
      const answer = await raw(
        bench,
        asking(
          `X-API-Key: ${keys.ann}`,
          `Idempotency-Key: ${key}`,
          'Content-Type: application/json',
          `Content-Length: ${body.length}`,
        ).replace('GET', 'POST') + body,
      );
      assert.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(key));
    }
    const headers = { 'x-api-key': keys.ann };
    assert.deepEqual((await bench.ask('GET /jobs', { headers })).body.items, []);
  });

  test('do not share idempotency keys', async (t) => {
    const { submit } = await openGuarded(t);
    const same = { 'idempotency-key': 'same' };
    const ann = await submit(document, { ...same, 'x-api-key': keys.ann });
    const bob = await submit(document, { ...same, 'x-api-key': keys.bob });
    assert.notEqual(ann, bob);
  });

  test('cannot impersonate others with proxy headers', async (t) => {
    const { ask } = await openGuarded(t);
    const spoofed = {
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-host': 'evil.example',
      'x-caller-id': 'ann',
      'x-http-method-override': 'DELETE',
      'x-original-url': '/healthz',
    };
    const refused = await ask('GET /jobs', { headers: spoofed });
    assert.equal(refused.status, 401);
    const headers = { ...spoofed, 'x-api-key': keys.ann };
    const answer = await ask('GET /corpora', { headers });
    assert.equal(answer.status, 200);
    assert.ok(!JSON.stringify([...answer.headers]).includes('evil.example'));
  });
});

/** Everything of Ann, by its path. */
async function belongings({ ask, submit }: Bench): Promise<Record<string, string>> {
  const headers = { 'x-api-key': keys.ann };
  const id = await submit(document, headers);
  const own = <Shape>(name: RouteName, params: Record<string, string>) =>
    ask<Shape>(name, { params, headers });
  const { body: items } = await own<{ items: Item[] }>('GET /jobs/:id/items', { id });
  const [item] = items.items;
  const texts = ['A heron waits.'];
  const { body: queued } = await ask('POST /enqueue', { body: { texts }, headers });
  return {
    '/enqueue/': String(queued.id),
    '/jobs/': id,
    '/items/': String(item?.item_id),
    '/documents/': String(item?.document_id),
    '/corpora/': 'a',
    '/sources/': 'docs',
    // The address itself is the secret: one that nobody was given.
    '/hooks/': 'unknown',
    '/batch/tasks/': '550e8400-e29b-41d4-a716-446655440000',
    '/callers/': createHash('sha256').update(keys.ann).digest('hex').slice(0, 16),
  };
}

test('ids of another caller are answered as unknown on every route', async (t) => {
  const bench = await openGuarded(t, true);
  const things = await belongings(bench);
  const ann = { 'x-api-key': keys.ann };
  const stream = await fetch(`${bench.service.address}/jobs/${things['/jobs/']}/stream`, {
    headers: ann,
  });
  await stream.text();
  const before = await bench.ask<{ items: Job[] }>('GET /jobs', { headers: ann });
  assert.equal(before.body.items[0]?.state, 'succeeded');
  const asked = (Object.keys(contract) as RouteName[]).filter((name) => name.includes(':'));
  assert.ok(asked.length > 20);
  for (const name of asked) {
    const route: Route = contract[name];
    const [, prefix = ''] = /^\w+ (\/[a-z/]+\/):/.exec(name) ?? [];
    const one = things[prefix];
    assert.ok(one, `${name}: the test has nothing to ask about`);
    const { status, body } = await bench.ask(name, {
      params: {
        ...{ id: one, name: one, delivery: 'msg_1', entity: 'Ada Lovelace' },
        ...{ caller: 'bob', hash: '0123456789abcdef', run: '1' },
      },
      headers: { 'x-api-key': keys.bob },
      ...(route.body && { body: manual[name]?.body ?? {} }),
    });
    const allowed = route.failures.includes('forbidden') ? [403, 404] : [404];
    assert.ok(allowed.includes(status), `${name}: ${status} ${JSON.stringify(body)}`);
    assert.ok(!JSON.stringify(body).includes('heron'), name);
  }
  const after = await bench.ask<{ items: Job[] }>('GET /jobs', { headers: ann });
  assert.deepEqual(after.body, before.body);
  const search = { corpus_name: 'a', query: 'heron' };
  const own = await bench.ask<{ results: unknown[] }>('POST /search', {
    body: search,
    headers: ann,
  });
  assert.equal(own.body.results.length, 1);
});

const part = (name: string, body: string): string =>
  `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${body}\r\n`;
const corpus = part('name="corpus_name"', 'a');
const file = part('name="file"; filename="a.txt"', text);
const many = (count: number, one: string): string => one.repeat(count);

const uploads: readonly [title: string, type: string, body: string, status: number][] = [
  ['no boundary', 'multipart/form-data', `${corpus}${file}--b--`, 400],
  ['no end', 'multipart/form-data; boundary=b', `${corpus}${file}`, 400],
  [
    'an end in the middle of a part',
    'multipart/form-data; boundary=b',
    `${corpus}--b\r\nCont`,
    400,
  ],
  ['no part', 'multipart/form-data; boundary=b', '--b--\r\n', 400],
  ['JSON', 'application/json', '{"corpus_name":"a"}', 415],
  ['a form without parts', 'application/x-www-form-urlencoded', 'corpus_name=a', 415],
  [
    'ten thousand fields',
    'multipart/form-data; boundary=b',
    `${many(10_000, part('name="corpus_name"', 'a'))}--b--`,
    413,
  ],
  [
    'a field that is too long',
    'multipart/form-data; boundary=b',
    `${part('name="corpus_name"', 'a'.repeat(2000))}${file}--b--`,
    400,
  ],
  [
    'a field of a prototype',
    'multipart/form-data; boundary=b',
    `${corpus}${part('name="__proto__"', 'x')}${file}--b--`,
    400,
  ],
  [
    'headers of a part without end',
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="${'x'.repeat(1_000_000)}`,
    400,
  ],
];

describe('hostile uploads', () => {
  test('get an exact response, and create no job', async (t) => {
    const bench = await openGuarded(t);
    const headers = { 'x-api-key': keys.ann };
    for (const [title, type, body, status] of uploads) {
      const response = await fetch(`${bench.service.address}/jobs/upload`, {
        method: 'POST',
        body,
        headers: { ...headers, 'content-type': type },
      });
      const problem = await response.text();
      assert.equal(response.status, status, `${title}: ${problem.slice(0, 300)}`);
      assert.match(response.headers.get('content-type') ?? '', /problem\+json/, title);
    }
    assert.deepEqual((await bench.ask('GET /jobs', { headers })).body.items, []);
  });

  test('beyond the concurrent limit are refused, and others are not delayed', async (t) => {
    const bench = await openGuarded(t);
    const head = asking(
      `X-API-Key: ${keys.ann}`,
      'Content-Type: multipart/form-data; boundary=b',
      'Content-Length: 1000000',
    ).replace('GET /jobs', 'POST /jobs/upload');
    const { port } = new URL(bench.service.address);
    const slow = Array.from({ length: limits.request.uploadsPerCallerMax }, () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`${head}${corpus}--b\r\n`);
      return socket;
    });
    t.after(() => {
      for (const socket of slow) socket.destroy();
    });
    const upload = async (key: string): Promise<number> => {
      const body = new FormData();
      body.set('corpus_name', 'a');
      body.append('file', new Blob([text]), 'a.txt');
      const headers = { 'x-api-key': key };
      const url = `${bench.service.address}/jobs/upload`;
      return (await fetch(url, { method: 'POST', body, headers })).status;
    };
    await until(async () => (await upload(keys.ann)) === 429, { what: 'all of them to begin' });
    assert.equal(await upload(keys.bob), 202);
    for (const socket of slow) socket.destroy();
    await until(async () => (await upload(keys.ann)) === 202, { what: 'their slots' });
  });
});
