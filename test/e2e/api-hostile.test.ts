/** Hostile requests: an exact response, no crash, no leak. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { realWorld } from '../../src/app/world.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import type { World } from '../../src/kernel/world.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';

/** Sends raw bytes, and returns the response until the connection ends. */
async function raw({ service }: Bench, text: string): Promise<string> {
  const { port } = new URL(service.address);
  const socket = connect(Number(port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    answer += piece;
  });
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

const host = 'Host: 127.0.0.1\r\n';
const json = 'Content-Type: application/json\r\n';

const rawRequests: readonly [title: string, text: string, status: number][] = [
  ['not HTTP', 'HELO mail\r\n\r\n', 400],
  [
    'both a length and chunks',
    `POST /jobs HTTP/1.1\r\n${host}${json}Content-Length: 5\r\n` +
      'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['an unknown coding', `POST /jobs HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n`, 400],
  [
    'headers that are too large',
    `GET /jobs HTTP/1.1\r\n${host}X-A: ${'a'.repeat(17_000)}\r\n\r\n`,
    431,
  ],
  [
    'a folded header',
    `GET /jobs HTTP/1.1\r\n${host}X-A: a\r\n b\r\nConnection: close\r\n\r\n`,
    400,
  ],
  ['no host', 'GET /jobs HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
];

describe('hostile requests', () => {
  test('that are malformed get an exact response, and the connection ends', async (t) => {
    const bench = await openBench(t, { work: false });
    for (const [title, text, status] of rawRequests) {
      const answer = await raw(bench, text);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${title}: ${answer.slice(0, 200)}`);
    }
    assert.equal((await bench.ask('GET /healthz')).status, 200);
  });

  test('with a body that is too large are refused before it has arrived', async (t) => {
    const bench = await openBench(t, { work: false });
    const head = `POST /jobs HTTP/1.1\r\n${host}${json}`;
    const length = limits.request.bodyBytesMax + 1;
    const answer = await raw(bench, `${head}Content-Length: ${length}\r\n\r\n{`);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /"code":"payload_too_large"/);
  });

  test('whose body is too slow are answered with 408 and disconnected', async (t) => {
    const real = realWorld();
    const setTimer: World['setTimer'] = (run, delayMs) =>
      real.setTimer(run, delayMs === limits.request.bodyMs ? 50 : delayMs);
    const bench = await openBench(t, { work: false, world: { ...real, setTimer } });
    const answer = await raw(
      bench,
      `POST /jobs HTTP/1.1\r\n${host}${json}Content-Length: 9\r\n\r\n{`,
    );
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /"code":"request_too_slow"/);
    assert.equal((await bench.ask('GET /healthz')).status, 200);
  });

  test('that abort an upload leave nothing behind', async (t) => {
    const data = temporaryDirectory(t);
    const bench = await openBench(t, { data, work: false });
    const { port } = new URL(bench.service.address);
    const socket = connect(Number(port), '127.0.0.1');
    const part = (name: string) => `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n`;
    socket.write(
      `POST /jobs/upload HTTP/1.1\r\n${host}Content-Type: multipart/form-data; boundary=b\r\n` +
        `Content-Length: 1000000\r\n\r\n${part('name="corpus_name"')}a\r\n` +
        `${part('name="file"; filename="a.txt"')}${'heron '.repeat(20_000)}`,
    );
    const parts = () => globSync('*/*.part', { cwd: join(data, 'blobs') });
    await until(() => parts().length === 1, { what: 'the upload to begin' });
    socket.destroy();
    await until(() => parts().length === 0, { what: 'the upload to be removed' });
    assert.deepEqual((await bench.ask('GET /jobs')).body.items, []);
  });

  test('that keep their half of the connection open are disconnected', async (t) => {
    const bench = await openBench(t, { work: false });
    const { port } = new URL(bench.service.address);
    const openings = ['garbage\r\n\r\n', `GET /jobs HTTP/1.1\r\n${host}X-A: b\r\n`];
    const sockets = openings.flatMap((opening) =>
      Array.from({ length: 100 }, () => {
        const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => undefined).resume();
        socket.write(opening);
        // One header line after the other, and never the last.
        const drip = setInterval(() => socket.write('X-A: b\r\n'), 500);
        socket.once('close', () => clearInterval(drip));
        t.after(() => socket.destroy());
        return socket;
      }),
    );
    await until(() => sockets.every(({ closed }) => closed), { what: 'all of them to be closed' });
    assert.equal((await bench.ask('GET /healthz')).status, 200);
  });

  test('from pages of other sites, or to a foreign name, are refused', async (t) => {
    const bench = await openBench(t, { work: false });
    const body = { corpus_name: 'a', documents: [{ text: 'A heron.' }] };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:3000' },
      { origin: 'http://127.0.0.1:1' },
    ] as Record<string, string>[]) {
      const answer = await bench.ask('POST /jobs', { body, headers });
      assert.deepEqual([answer.status, answer.body.code], [403, 'forbidden']);
    }
    const rebound = 'GET /jobs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n';
    assert.match(await raw(bench, rebound), /^HTTP\/1\.1 403 /);
    const own = await bench.ask('POST /jobs', { body, headers: { origin: bench.service.address } });
    assert.equal(own.status, 202);
  });

  test('for unknown paths are answered with 404', async (t) => {
    const bench = await openBench(t, { work: false });
    const { address } = bench.service;
    for (const path of ['/nothing', '/jobs/a/b/c', '/%2e%2e/%2e%2e/etc/passwd', '/%zz']) {
      const response = await fetch(`${address}${path}`);
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [404, 'route_unknown'], path);
    }
  });

  test('with a method that the path does not take are answered with 405', async (t) => {
    const { service } = await openBench(t, { work: false });
    const refused: readonly [method: string, path: string, allowed: string][] = [
      ['PUT', '/jobs', 'POST, GET'],
      ['PUT', '/v1/jobs', 'POST, GET'],
      ['QUERY', '/v1/jobs/some/', 'GET'],
      ['POST', '/v1/corpora/some%20name', 'GET, DELETE'],
    ];
    for (const [method, path, allowed] of refused) {
      const response = await fetch(`${service.address}${path}`, { method });
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [405, 'method_unknown'], path);
      assert.deepEqual(response.headers.get('allow'), allowed);
    }
  });

  test('keep a request id that is safe to log, and no other', async (t) => {
    const { ask } = await openBench(t, { work: false });
    const idOf = async (given: string) => {
      const { headers, body } = await ask('GET /jobs/:id', {
        params: { id: 'x' },
        headers: { 'x-request-id': given },
      });
      assert.equal(headers.get('x-request-id'), body.request_id);
      return body.request_id;
    };
    assert.equal(await idOf('abc-1.2:3'), 'abc-1.2:3');
    for (const given of ['a b', '<script>', 'a'.repeat(129)]) {
      assert.match(String(await idOf(given)), /^[0-9a-f-]{36}$/);
    }
  });
});

describe('secrets', () => {
  test('with twelve secrets in requests and sources leak none of them', async (t) => {
    const bench = await openBench(t);
    const { ask, submit, ended, service, lines } = bench;
    const canaries = Array.from({ length: 12 }, (_, index) => `canary-${index}-${'q'.repeat(12)}`);
    const [key, auth, cookie, query, userinfo, token, text, title, name, field, path, bad] =
      canaries;
    const headers = {
      'x-api-key': String(key),
      authorization: `Bearer ${auth}`,
      cookie: `session=${cookie}`,
    };
    const documents = [{ id: 'one', text: `The heron says ${text}.`, title: String(title) }];
    await ended(await submit({ corpus_name: 'a', documents }, headers));
    await ask('POST /search', { body: { corpus_name: 'a', query: String(query) }, headers });
    const url = `http://user:${userinfo}@127.0.0.1:1/?token=${token}`;
    await ask('POST /jobs', { body: { corpus_name: 'a', url }, headers });
    await ask('POST /jobs', { body: { corpus_name: 'a', [String(field)]: 1 }, headers });
    await ask('POST /jobs', { body: `{"corpus_name": ${bad}`, headers });
    await fetch(`${service.address}/${path}?${query}`, { headers });
    const form = new FormData();
    form.set('corpus_name', 'a');
    form.append('file', new Blob(['']), `${name}.txt`);
    await (await fetch(`${service.address}/jobs/upload`, { method: 'POST', body: form })).text();
    const metrics = (await ask<string>('GET /metrics')).body;
    const events = JSON.stringify((await ask('GET /events')).body);
    const told = { log: lines.join(''), metrics, events };
    for (const [where, all] of Object.entries(told)) {
      const found = canaries.filter((canary) => all.includes(canary));
      // The history names a failed source on purpose.
      const allowed = where === 'events' ? [name] : [];
      assert.deepEqual(
        found.filter((canary) => !allowed.includes(canary)),
        [],
        where,
      );
    }
    assert.ok(told.log.includes('"job_id"') && told.log.includes('"request_id"'));
  });

  test('every transition of a job is logged, with from, to, reason and attempt', async (t) => {
    const { submit, ended, lines } = await openBench(t);
    const id = await submit({ corpus_name: 'a', documents: [{ text: 'A heron.' }] });
    await ended(id);
    const readMoves = () =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ job_id, msg }) => job_id === id && /^job_(?!s?ubmit)/.test(msg));
    // A stream can end with the job before the same events have been logged.
    const isLogged = () => readMoves().some(({ to }) => to === 'succeeded');
    await until(isLogged, { what: 'the end of the job in the log' });
    const moves = readMoves();
    assert.deepEqual(
      moves.map(({ from, to }) => [from, to]),
      [
        [null, 'queued'],
        ['queued', 'running'],
        ['running', 'succeeded'],
      ],
    );
    assert.ok(moves.every(({ reason, attempt }) => reason && attempt === 1));
  });
});
