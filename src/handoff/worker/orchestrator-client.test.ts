import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { type FailureCode, isRetried } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { mebibyte } from '../../kernel/limits/unit.ts';
import { remoteChunker } from '../orchestrator/chunk-client.ts';
import { type Post, servicePost } from './orchestrator-client.ts';

const key = 'k'.repeat(32);

async function listen(t: TestContext, answer: (response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume().once('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const postTo = (url: string, fetch?: typeof globalThis.fetch): Post =>
  servicePost({ url, key, world: new TestWorld(), fetch });

const answers: readonly [string, FailureCode, (response: ServerResponse) => void][] = [
  ['502', 'provider_unavailable', (response) => response.writeHead(502).end('bad gateway')],
  ['503', 'provider_unavailable', (response) => response.writeHead(503).end()],
  ['504', 'timeout_soft', (response) => response.writeHead(504).end()],
  ['500', 'service_failed', (response) => response.writeHead(500).end('{"detail":"oh"}')],
  ['501', 'service_failed', (response) => response.writeHead(501).end()],
  ['429', 'rate_limited', (response) => response.writeHead(429).end()],
  ['413', 'payload_too_large', (response) => response.writeHead(413).end()],
  ['403', 'provider_auth', (response) => response.writeHead(403).end()],
  ['404', 'job_unknown', (response) => response.writeHead(404).end()],
  ['400', 'bad_request', (response) => response.writeHead(400).end()],
  ["a gateway's page", 'network_error', (response) => response.end('<html>Back soon</html>')],
  ['nothing at all', 'network_error', (response) => response.destroy()],
  [
    'more than a response may have',
    'payload_too_large',
    (response) => {
      const part = Buffer.alloc(8 * mebibyte, ' ');
      const parts = Math.ceil(limits.handoff.bodyBytesMax / part.length) + 1;
      for (let count = 0; count < parts; count += 1) response.write(part);
      // It never ends.
    },
  ],
  [
    'half a response',
    'network_error',
    (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"status":');
      response.flushHeaders();
      setImmediate(() => response.destroy());
    },
  ],
];

describe('a request to a service', () => {
  for (const [what, code, answer] of answers) {
    test(`that is answered with ${what} fails as ${code}`, async (t) => {
      const url = await listen(t, answer);
      await assert.rejects(postTo(url)('/chunk', {}), { code });
    });
  }

  test('that is not accepted, or not answered in time, reports the service as away', async () => {
    const reasons = [
      new DOMException('timed out', 'TimeoutError'),
      Object.assign(new Error('connect'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'EPROTO' }) }),
    ];
    for (const reason of reasons) {
      const post = postTo('http://127.0.0.1:1', () => Promise.reject(reason));
      await assert.rejects(post('/chunk', {}), { code: 'network_error' });
    }
  });

  test('that its sender aborts says so, and not that the service is away', async (t) => {
    const url = await listen(t, () => undefined);
    const controller = new AbortController();
    const asked = postTo(url)('/chunk', {}, controller.signal);
    controller.abort('lost');
    assert.equal(await asked.catch((error: unknown) => error), 'lost');
  });
});

const text = 'Some words.';
const chunk = {
  key: 'a',
  ordinal: 0,
  heading: '',
  text,
  startOffset: 0,
  endOffset: text.length,
  tokenCount: 3,
};
const { signal } = new AbortController();

describe('a text for the chunking service', () => {
  const outcomes: Readonly<Record<string, 'waited for' | 'chunked here' | 'tried again'>> = {
    'nothing at all': 'waited for',
    "a gateway's page": 'waited for',
    'half a response': 'waited for',
    '502': 'waited for',
    '503': 'waited for',
    // The service is up; a text that it cannot handle is chunked here.
    '504': 'chunked here',
    '413': 'chunked here',
    // The text may be the cause: it is not retried forever.
    '500': 'tried again',
  };
  for (const [what, outcome] of Object.entries(outcomes)) {
    test(`that is answered with ${what} is ${outcome}`, async (t) => {
      const answer = answers.find(([name]) => name === what)?.[2];
      assert.ok(answer);
      const post = postTo(await listen(t, answer));
      const asked = remoteChunker(post, async () => [chunk])(text, signal);
      if (outcome === 'chunked here') return assert.deepEqual(await asked, [chunk]);
      const failure = await asked.then(
        () => assert.fail('it was chunked'),
        (error) => error,
      );
      const { awayMs } = limits.handoff;
      if (outcome === 'waited for') {
        return assert.deepEqual([failure.code, failure.retryAfterMs], ['service_busy', awayMs]);
      }
      assert.equal(failure.kind, 'transient');
      assert.ok(isRetried(failure.code));
    });
  }
});
