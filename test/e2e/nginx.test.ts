/** The gateway of `deploy/nginx`: a real nginx in front of the real service. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Compile } from 'typebox/compile';
import { Problem } from '../../src/contract/schema/schema.ts';
import {
  checkPlace,
  type Gateway,
  listPlaces,
  nginxVersion,
  startGateway,
} from '../support/nginx.ts';
import { hangSignal } from '../support/patience.ts';
import { lastingPort } from '../support/server.ts';
import type { Cleanup } from '../support/temporary.ts';
import { until } from '../support/wait.ts';
import { type Bench, openBench } from './api-client.ts';
import { askGateway, type GatewayAnswer, type GatewayAsking } from './gateway-client.ts';

const keys = { ann: 'ann-key-that-nobody-may-read', bob: 'bob-key-that-nobody-may-read' };
const apiKeys = Object.values(keys).map(
  (key) => `sha256:${createHash('sha256').update(key).digest('hex')}`,
);
const json = { 'content-type': 'application/json' };
const withKey = (key: string = keys.ann) => ({ ...json, 'x-api-key': key });
const outside = '127.0.0.2';
const document = { corpus_name: 'a', documents: [{ id: 'x', text: 'A heron waits.' }] };
const problems = Compile(Problem);

/** Refusals of the gateway: problem documents, never nginx pages. */
function assertProblem(answer: GatewayAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const problem = answer.json();
  assert.ok(problems.Check(problem), answer.text);
  assert.deepEqual([problem.status, problem.code], [status, code]);
  assert.equal(problem.request_id, answer.headers['x-request-id']);
}

describe('a gateway in front of the service', () => {
  const releases: (() => void | Promise<void>)[] = [];
  let bench: Bench;
  let gateway: Gateway;
  const ask = (path: string, asking?: GatewayAsking) => askGateway(gateway.port, path, asking);

  before(async () => {
    const cleanup: Cleanup = { after: (release) => void releases.push(release) };
    bench = await openBench(cleanup, { keys: { apiKeys } });
    const port = Number(new URL(bench.service.address).port);
    const ports = { orchestrator: port, scraper: port, chunking: port, embedding: port };
    gateway = await startGateway({ ports });
    releases.push(() => gateway.stop());
  });
  after(async () => {
    for (const release of releases.reverse()) await release();
  });

  test('forwards requests, and gives each an id', async () => {
    const body = JSON.stringify(document);
    const asking = { method: 'POST', headers: withKey(), body };
    const made = await ask('/jobs', asking);
    assert.equal(made.status, 202, made.text);
    const id = String(made.headers['x-request-id']);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.ok(
      bench.lines.some((line) => line.includes(id)),
      'the service logs the same id',
    );
    const given = await ask('/jobs', { headers: { ...withKey(), 'x-request-id': 'my.own:id-1' } });
    assert.equal(given.headers['x-request-id'], 'my.own:id-1');
    const hostile = { ...withKey(), 'x-request-id': 'two words "quoted"' };
    assert.match(
      String((await ask('/jobs', { headers: hostile })).headers['x-request-id']),
      /^[0-9a-f]{32}$/,
    );
  });

  test('sends security headers once, on all responses', async () => {
    const wanted = ['x-request-id', 'x-content-type-options', 'referrer-policy', 'x-frame-options'];
    const refused = await ask('/metrics', { from: outside });
    for (const answer of [await ask('/'), await ask('/jobs'), refused]) {
      for (const name of wanted) {
        assert.equal(answer.headerNames.filter((had) => had === name).length, 1, name);
      }
    }
    assert.equal((await ask('/')).headers.server, 'nginx');
  });

  test('accepts a burst, refuses a flood, and does not affect other clients', async () => {
    const flood = { method: 'POST', headers: json, body: '{}', from: '127.0.0.3' };
    const many = (count: number) =>
      Promise.all(Array.from({ length: count }, () => ask('/scrape', flood)));
    assert.ok((await many(10)).every(({ status }) => status !== 429));
    const refused = (await many(120)).filter(({ status }) => status === 429);
    assert.ok(refused.length >= 60, `${refused.length} of 120 were refused`);
    for (const answer of refused) {
      assertProblem(answer, 429, 'rate_limit_hit');
      assert.ok(Number(answer.headers['retry-after']) > 0);
      assert.equal(answer.headers['x-ratelimit-limit'], undefined, 'that is the service’s to say');
    }
    assert.notEqual((await ask('/scrape', { ...flood, from: '127.0.0.4' })).status, 429);
    // Another group of routes has its own limit.
    assert.equal((await ask('/jobs', { from: '127.0.0.3' })).status, 401);
  });

  test('counts a key over all client addresses', async () => {
    const scrape = (key: string, n: number) =>
      ask('/scrape', { method: 'POST', headers: withKey(key), body: '{}', from: `127.0.1.${n}` });
    // Few from each address, so that no address exceeds its own limit.
    const many = Array.from({ length: 240 }, (_, at) => scrape(keys.bob, 1 + (at % 24)));
    const refused = (await Promise.all(many)).filter(({ status }) => status === 429);
    assert.ok(refused.length >= 100, `${refused.length} of 240 were refused`);
    for (const answer of refused) assertProblem(answer, 429, 'rate_limit_hit');
    assert.notEqual((await scrape(keys.ann, 100)).status, 429, 'another key passes');
  });

  test('lets only services call back, for every spelling of the path', async () => {
    const paths = [
      ...['complete', 'begin', 'heartbeat'].map((verb) => `/jobs/some-id/${verb}`),
      ...['/jobs/some-id/complete/', '/jobs/some-id/complete?x=1', '/jobs//some-id//complete'],
      ...['/jobs/some-id/%63omplete', '/jobs/a%2Fb/complete', '/jobs/a%0Ab/complete'],
      ...['/jobs/some-id/./complete', '/x/../jobs/some-id/complete', '/JOBS/some-id/COMPLETE'],
      ...['/api/orchestrator/jobs/some-id/complete', '/metrics', '/metrics/'],
      ...['/v1/metrics', '/v1/v1/metrics', '/v1//metrics', '/%76%31/metrics', '/v1%2Fmetrics'],
      ...['/v1/jobs/some-id/complete', '/api/orchestrator/v1/metrics', '/x/../v1/metrics'],
      ...['/v1/api/orchestrator/v1/metrics', '/api/scraper/v1/metrics'],
      ...['/callbacks', '/v1/callbacks', '/CALLBACKS/', '/api/orchestrator/callbacks?x=1'],
    ];
    for (const path of paths) {
      const marked = { ...withKey(), 'x-request-id': `outside-${paths.indexOf(path)}` };
      const answer = await ask(path, {
        method: 'POST',
        headers: marked,
        body: '{}',
        from: outside,
      });
      assertProblem(answer, 403, 'forbidden');
      const line = await lineOf(gateway, `outside-${paths.indexOf(path)}`);
      assert.equal(line.upstream_addr, '', `${path} reached the service`);
    }
    const inside = { ...withKey(), 'x-request-id': 'inside-1' };
    await ask('/jobs/some-id/complete', { method: 'POST', headers: inside, body: '{}' });
    assert.notEqual((await lineOf(gateway, 'inside-1')).upstream_addr, '');
    assert.match((await ask('/metrics')).text, /pawl_items_without_forward_cause 0/);
  });

  test('forwards every event of a stream immediately', async () => {
    const url = `http://127.0.0.1:${gateway.port}/stream`;
    const signal = hangSignal();
    const stream = await fetch(url, { headers: withKey(), signal });
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const body = JSON.stringify({ ...document, corpus_name: 'streamed' });
    const { job_id } = (await ask('/jobs', { method: 'POST', headers: withKey(), body })).json();
    const decoder = new TextDecoder();
    let text = '';
    // Jobs of other tests may still be running.
    const isTold = (kind: string): boolean =>
      text.split('\n').some((line) => line.includes(`"${job_id}"`) && line.includes(`"${kind}"`));
    // The stream of all events never ends, so buffered events would never arrive.
    for await (const piece of stream.body ?? []) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      if (isTold('job_succeeded')) break;
    }
    for (const kind of ['job_accepted', 'step_completed']) assert.ok(isTold(kind), kind);
    const ended = await ask(`/jobs/${String(job_id)}/stream`, { headers: withKey() });
    assert.match(ended.text, /"kind":"job_succeeded"/);
  });

  test('refuses bodies that the service would refuse, and allows larger uploads', async () => {
    const bytes = String(25 * 1024 * 1024);
    const large = { method: 'POST', headers: { ...withKey(), 'content-length': bytes }, body: '{' };
    assertProblem(await ask('/jobs', large), 413, 'payload_too_large');
    const form = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': bytes };
    const upload = await ask('/jobs/upload', { method: 'POST', headers: form, body: '--x\r\n' });
    assert.equal(upload.status, 401, 'the service was asked, and wants a key');
  });

  test('answers invalid HTTP with a problem, too', async () => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    socket.end('GET /\u0001 HTTP/1.1\r\nhost: x\r\n\r\n');
    let text = '';
    for await (const piece of socket) text += String(piece);
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.match(text, /"code":"bad_request"/);
    const tall = await ask('/', { headers: { 'x-tall': 'x'.repeat(40_000) } });
    assertProblem(tall, 400, 'bad_request');
    assert.deepEqual((await ask('/-/healthz')).json(), { status: 'ok' });
    assert.equal((await ask('/-/bad_request')).status, 404, 'its pages are not routes');
  });

  test('logs requests as JSON, without keys and queries', async () => {
    const secret = 'a-query-that-nobody-may-read';
    const marked = { ...withKey(), 'x-request-id': 'logged-1', 'user-agent': 'a "quoted" agent' };
    await ask(`/jobs?corpus_name=${secret}`, { headers: marked });
    const line = await lineOf(gateway, 'logged-1');
    const { time, request_time, upstream_response_time, ...rest } = line;
    assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
    for (const seconds of [request_time, upstream_response_time]) {
      assert.ok(Number(seconds) >= 0 && Number(seconds) < 10, String(seconds));
    }
    const shown = [
      'method',
      'path',
      'status',
      'has_key',
      'limit_req_status',
      'user_agent',
    ] as const;
    assert.deepEqual(
      shown.map((name) => rest[name]),
      ['GET', '/jobs', 200, true, 'PASSED', 'a "quoted" agent'],
    );
    const lines = gateway.logLines();
    const statuses = lines.map((text) => JSON.parse(text).limit_req_status);
    assert.ok(statuses.includes('REJECTED'), 'refusals of the gateway can be distinguished');
    const all = `${lines.join('\n')}${gateway.errorLog()}`;
    for (const hidden of [...Object.values(keys), secret]) assert.ok(!all.includes(hidden), hidden);
  });
});

describe('a gateway in front of four services', () => {
  test('routes each path to its service', async (t) => {
    const { gateway, ask } = await openFour(t, {});
    const routes: readonly (readonly [asked: string, service: string, path: string])[] = [
      ['/jobs', 'orchestrator', '/jobs'],
      ['/jobs/1/stream', 'orchestrator', '/jobs/1/stream'],
      ['/corpora/a/documents?limit=2', 'orchestrator', '/corpora/a/documents?limit=2'],
      ['/anything-new', 'orchestrator', '/anything-new'],
      ['/search', 'embedding', '/search'],
      ['/embed', 'embedding', '/embed'],
      ['/scrape', 'scraper', '/scrape'],
      ['/chunk', 'chunking', '/chunk'],
      ['/api/orchestrator/jobs/1?a=b', 'orchestrator', '/jobs/1?a=b'],
      ['/api/scraper/scrape', 'scraper', '/scrape'],
      ['/api/scraper/enqueue', 'scraper', '/enqueue'],
      ['/api/embedding/enqueue', 'embedding', '/enqueue'],
      ['/api/embedding/search', 'embedding', '/search'],
      ['/api/chunking/chunk', 'chunking', '/chunk'],
    ];
    for (const [asked, service, path] of routes) {
      const got = (await ask(asked, { method: 'POST', body: '{}' })).json();
      assert.deepEqual([got.service, got.url], [service, path], asked);
      assert.equal(got.forwarded, '127.0.0.1', 'identity headers of the caller are not forwarded');
    }
    assert.equal(gateway.errorLog(), '');
  });

  test('reports an unreachable or slow service, and forwards its own refusals', async (t) => {
    const { gateway, ask } = await openFour(t, {
      answers: {
        // Never: the gateway has to end it.
        scraper: () => undefined,
        embedding: (response) => {
          response.writeHead(429, {
            'content-type': 'application/problem+json',
            'retry-after': '77',
          });
          response.end('{"code":"queue_full"}');
        },
      },
      changes: { 'proxy_read_timeout 35s;': 'proxy_read_timeout 200ms;' },
      away: 'chunking',
    });
    const away = await ask('/chunk', { method: 'POST', body: '{}' });
    assertProblem(away, 503, 'service_unavailable');
    assert.ok(Number(away.headers['retry-after']) > 0);
    assertProblem(await ask('/scrape', { method: 'POST', body: '{}' }), 504, 'timeout_soft');
    const headers = { 'x-request-id': 'own-limit' };
    const limited = await ask('/search', { method: 'POST', body: '{}', headers });
    assert.deepEqual([limited.status, limited.headers['retry-after']], [429, '77']);
    assert.equal(limited.json().code, 'queue_full');
    // The log distinguishes the two this way.
    const line = await lineOf(gateway, 'own-limit');
    assert.deepEqual([line.status, line.limit_req_status], [429, 'PASSED']);
  });

  test('trusts client addresses only from a configured load balancer', async (t) => {
    const listen =
      'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; real_ip_recursive on;';
    const { gateway, ask } = await openFour(t, { listen });
    const addressOf = async (name: string, from: string, path = '/jobs') => {
      const headers = { 'x-request-id': name, 'x-forwarded-for': '127.0.0.1, 203.0.113.9' };
      const { status } = await ask(path, { headers, from });
      return [status, (await lineOf(gateway, name)).remote_addr];
    };
    assert.deepEqual(await addressOf('by-balancer', '127.0.0.1'), [200, '203.0.113.9']);
    assert.deepEqual(await addressOf('by-other', '127.0.0.5'), [200, '127.0.0.5']);
    // A caller that claims to be internal is still external.
    const callback = await addressOf('callback', '127.0.0.1', '/jobs/1/complete');
    assert.deepEqual(callback, [403, '203.0.113.9']);
  });

  for (const place of listPlaces()) {
    test(`nginx accepts the configuration of ${place}`, (t) => {
      if (place === 'compose' && nginxVersion() < 1_027_003) {
        t.skip('it needs nginx 1.27.3 (`resolve` of upstreams), and the names of compose');
        return;
      }
      assert.equal(checkPlace(place), undefined);
    });
  }
});

type Service = 'orchestrator' | 'scraper' | 'chunking' | 'embedding';

interface Four {
  /** The response of a service; by default its name and the request. */
  readonly answers?: { readonly [S in Service]?: (response: ServerResponse) => void };
  readonly changes?: Readonly<Record<string, string>>;
  readonly listen?: string;
  readonly away?: Service;
}

/** Four services that return what they were sent. */
async function openFour(t: TestContext, { answers = {}, changes = {}, listen = '', away }: Four) {
  const open = async (service: Service): Promise<number> => {
    if (service === away) return lastingPort();
    const server = createServer((request, response) => {
      const own = answers[service];
      if (own) return own(response);
      const forwarded = request.headers['x-forwarded-for'];
      response.end(JSON.stringify({ service, url: request.url, forwarded }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const ports = {
    orchestrator: await open('orchestrator'),
    scraper: await open('scraper'),
    chunking: await open('chunking'),
    embedding: await open('embedding'),
  };
  const gateway = await startGateway({ ports, changes, listen });
  t.after(() => gateway.stop());
  const ask = (path: string, asking: GatewayAsking = {}) => {
    const headers = { 'x-forwarded-for': '203.0.113.9', ...asking.headers };
    return askGateway(gateway.port, path, { ...asking, headers });
  };
  return { gateway, ask };
}

/** The line is written after the response, which the caller may see before. */
function lineOf(gateway: Gateway, requestId: string): Promise<Record<string, unknown>> {
  const find = () =>
    gateway
      .logLines()
      .map((line): Record<string, unknown> => JSON.parse(line))
      .find(({ request_id }) => request_id === requestId);
  return until(find, { what: `the line of ${requestId} in the access log` });
}
