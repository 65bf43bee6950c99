import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { codeOf } from '../../../../test/support/failure-code.ts';
import { hangSignal } from '../../../../test/support/patience.ts';
import { serveRaw } from '../../../../test/support/raw-server.ts';
import { realWorld } from '../../../app/world.ts';
import { Failure, type FailureCode } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { allowedHosts } from '../address.ts';
import { type GetRequest, httpFetcher, userAgent } from './http.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: TestContext, handle: Handle): Promise<string> {
  const server = createServer({ keepAliveTimeout: 1 }, handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const bounds = { wireBytesMax: 1_000_000, bytesMax: 2_000_000, beyond: 'fail' } as const;

function get(url: string, options: Partial<GetRequest> = {}, world = realWorld()) {
  const target = new URL(url);
  const fetcher = httpFetcher({ world, allowed: allowedHosts([target.host]) });
  return fetcher.get({
    url: target,
    accept: '*/*',
    signal: hangSignal(),
    redirectsMax: limits.fetch.redirectsMax,
    bounds,
    ...options,
  });
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('a fetch', () => {
  test('sends its user agent and accepted types, and returns the bytes', async (t) => {
    let asked: IncomingMessage['headers'] = {};
    const origin = await serve(t, (request, response) => {
      asked = request.headers;
      response.setHeader('ETag', '"1"').end('hello');
    });
    const answer = await get(`${origin}/a?b=c`);
    assert.equal(text(answer.bytes), 'hello');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('etag'), '"1"');
    assert.equal(asked['user-agent'], userAgent);
    assert.equal(asked['accept-encoding'], 'gzip, deflate, br, zstd');
    assert.equal(asked.cookie, undefined);
  });

  const encodings: readonly [name: string, body: Buffer][] = [
    ['gzip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['deflate', deflateSync('hello')],
    ['deflate', deflateRawSync('hello')],
    ['br', brotliCompressSync('hello')],
    ['zstd', zstdCompressSync('hello')],
    ['identity', Buffer.from('hello')],
    ['GZIP, identity', gzipSync('hello')],
    ['gzip', Buffer.concat([gzipSync('hello'), Buffer.alloc(100)])],
  ];
  for (const [name, body] of encodings) {
    test(`unpacks ${name} of ${body.length} bytes`, async (t) => {
      const origin = await serve(t, (_, response) => {
        response.setHeader('Content-Encoding', name).end(body);
      });
      assert.equal(text((await get(origin)).bytes), 'hello');
    });
  }

  const zeros = Buffer.alloc(20_000_000);
  const bombs: readonly [name: string, body: Buffer][] = [
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['zstd', zstdCompressSync(zeros)],
  ];
  for (const [name, body] of bombs) {
    test(`stops a bomb of ${name}: ${body.length} bytes that hold 20 MB`, async (t) => {
      const origin = await serve(t, (_, response) => {
        response.setHeader('Content-Encoding', name).end(body);
      });
      assert.equal(await codeOf(get(origin)), 'source_too_large');
    });
  }

  const damaged: readonly [name: string, header: string, body: Buffer][] = [
    ['a truncated gzip', 'gzip', gzipSync('hello'.repeat(100)).subarray(0, 20)],
    ['gzip with garbage behind it', 'gzip', Buffer.concat([gzipSync('a'), Buffer.from('b')])],
    ['invalid gzip', 'gzip', Buffer.from('plain text, and not compressed')],
    ['invalid brotli', 'br', Buffer.from('plain text, and not compressed')],
    ['invalid zstd', 'zstd', Buffer.from('plain text, and not compressed')],
    ['two encodings', 'gzip, gzip', gzipSync(gzipSync('hello'))],
    ['a thousand encodings', Array(1000).fill('gzip').join(','), gzipSync('hello')],
    ['an encoding nobody asked for', 'compress', Buffer.from('hello')],
  ];
  for (const [name, header, body] of damaged) {
    test(`refuses ${name}`, async (t) => {
      const origin = await serve(t, (_, response) => {
        response.setHeader('Content-Encoding', header).end(body);
      });
      assert.equal(await codeOf(get(origin)), 'bad_response');
    });
  }

  test('ends before reading a body whose announced size is above the limit', async (t) => {
    const origin = await serve(t, (_, response) => {
      response.writeHead(200, { 'Content-Length': 10_000_000_000 });
      response.write('a little');
    });
    assert.equal(await codeOf(get(origin)), 'source_too_large');
  });

  test('stops an endless body at the limit', async (t) => {
    const origin = await serve(t, (_, response) => {
      const chunk = Buffer.alloc(65_536, 'a');
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write);
      write();
    });
    assert.equal(await codeOf(get(origin)), 'source_too_large');
  });

  test('truncates a body at the limit if requested', async (t) => {
    const origin = await serve(t, (_, response) => response.end('a'.repeat(1000)));
    const answer = await get(origin, { bounds: { ...bounds, bytesMax: 10, beyond: 'cut' } });
    assert.equal(text(answer.bytes), 'a'.repeat(10));
    assert.equal(answer.isCut, true);
  });

  test('reads only the start of an error page', async (t) => {
    const origin = await serve(t, (_, response) => {
      response.writeHead(500).end('a'.repeat(1_000_000));
    });
    const answer = await get(origin);
    assert.equal(answer.status, 500);
    assert.ok(answer.bytes.length <= limits.fetch.errorBytesMax);
  });

  const truncations: readonly [name: string, said: string][] = [
    ['a body shorter than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'],
    [
      'chunks without an end',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
    ],
    ['garbage for chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n'],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['half a header', 'HTTP/1.1 200 OK\r\nContent-'],
    ['nothing', ''],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
  ];
  for (const [name, said] of truncations) {
    test(`tries again later after ${name}`, async (t) => {
      const origin = await serveRaw(t, (socket) => socket.end(said));
      assert.equal(await codeOf(get(origin)), 'network_error');
    });
  }

  test('refuses headers above the size limit', async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.write(`X-Long: ${'a'.repeat(1_000_000)}\r\n\r\n`);
    });
    assert.equal(await codeOf(get(origin)), 'bad_response');
  });

  test('refuses ten thousand headers', async (t) => {
    const origin = await serveRaw(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${'X-Many: value\r\n'.repeat(10_000)}\r\n`);
    });
    assert.equal(await codeOf(get(origin)), 'bad_response');
  });

  test('tries again later after a connection that was refused or reset', async (t) => {
    const origin = await serveRaw(t, (socket) => socket.resetAndDestroy());
    await assert.rejects(get(origin), (error) => {
      assert.ok(error instanceof Failure && error.code === 'network_error');
      return true;
    });
    assert.equal(await codeOf(get('http://127.0.0.1:1/')), 'network_error');
  });

  /** A clock driven by the test: the deadline is the timer of the whole fetch. */
  function worldWithDeadline(fire: { run?: () => void }) {
    const world = realWorld();
    return {
      ...world,
      setTimer: (run: () => void, delayMs: number) => {
        if (delayMs !== limits.fetch.wholeMs) return world.setTimer(run, delayMs);
        fire.run = run;
        return () => undefined;
      },
    };
  }

  test('ends a slow drip of bytes at the deadline', async (t) => {
    const fire: { run?: () => void } = {};
    let drops = 0;
    const origin = await serve(t, (_, response) => {
      const drip = (): void => {
        response.write('a');
        drops += 1;
        if (drops === 20) fire.run?.();
        else setImmediate(drip);
      };
      drip();
    });
    assert.equal(await codeOf(get(origin, {}, worldWithDeadline(fire))), 'timeout_soft');
  });

  test('ends headers that never finish at the deadline', async (t) => {
    const fire: { run?: () => void } = {};
    const origin = await serveRaw(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ', () => fire.run?.());
    });
    assert.equal(await codeOf(get(origin, {}, worldWithDeadline(fire))), 'timeout_soft');
  });

  test('stops when its step is aborted', async (t) => {
    const controller = new AbortController();
    const origin = await serve(t, (_, response) => {
      response.write('a');
      controller.abort(new Failure('canceled', 'the job was canceled'));
    });
    assert.equal(await codeOf(get(origin, { signal: controller.signal })), 'canceled');
  });
});

describe('a redirect', () => {
  const redirectTo =
    (location: string, status = 302): Handle =>
    (_, response) =>
      response.writeHead(status, { Location: location }).end();

  test('is followed and recorded, relative ones too', async (t) => {
    const origin = await serve(t, (request, response) => {
      if (request.url === '/a') redirectTo('b/../c?d#e', 301)(request, response);
      else response.end(request.url);
    });
    const answer = await get(`${origin}/a`);
    assert.equal(text(answer.bytes), '/c?d');
    assert.equal(answer.url.href, `${origin}/c?d`);
    assert.deepEqual(answer.redirects, [
      { from: `${origin}/a`, status: 301, to: `${origin}/c?d`, isDowngrade: false },
    ]);
  });

  test('in a loop ends at once, and an endless chain at the limit', async (t) => {
    let requests = 0;
    const origin = await serve(t, (request, response) => {
      requests += 1;
      const isCircle = request.url?.startsWith('/circle');
      redirectTo(isCircle ? '/circle' : `/${requests}`)(request, response);
    });
    assert.equal(await codeOf(get(`${origin}/circle`)), 'redirect_loop');
    assert.equal(requests, 1);
    assert.equal(await codeOf(get(`${origin}/chain`)), 'redirect_loop');
    assert.equal(requests, 1 + 1 + limits.fetch.redirectsMax);
  });

  const refused: readonly [location: string, code: FailureCode][] = [
    ['http://169.254.169.254/latest/meta-data/', 'private_address'],
    ['http://[::ffff:7f00:1]/', 'private_address'],
    ['http://2130706433/', 'private_address'],
    ['http://localhost/', 'private_address'],
    ['//10.0.0.1/', 'private_address'],
    ['file:///etc/passwd', 'invalid_url'],
    ['ftp://example.com/', 'invalid_url'],
    ['data:text/html,hello', 'invalid_url'],
    ['javascript:alert(1)', 'invalid_url'],
    ['http://user:secret@127.0.0.1/', 'invalid_url'],
    ['http://256.256.256.256/', 'invalid_url'],
  ];
  for (const [location, code] of refused) {
    test(`to ${location} is refused`, async (t) => {
      const origin = await serve(t, redirectTo(location));
      assert.equal(await codeOf(get(origin)), code);
    });
  }

  test('without a location is refused', async (t) => {
    const origin = await serve(t, (_, response) => response.writeHead(302).end());
    assert.equal(await codeOf(get(origin)), 'bad_response');
  });

  test('is checked before each hop, and stops at a refusal', async (t) => {
    let requests = 0;
    const origin = await serve(t, (request, response) => {
      requests += 1;
      redirectTo('/private')(request, response);
    });
    const beforeHop = async (url: URL): Promise<void> => {
      if (url.pathname === '/private') throw new Failure('robots_disallowed', 'no');
    };
    assert.equal(await codeOf(get(`${origin}/a`, { beforeHop })), 'robots_disallowed');
    assert.equal(requests, 1);
  });
});

describe('a conditional request', () => {
  test('is sent only to the address that gave the validators', async (t) => {
    const asked: (string | undefined)[] = [];
    const origin = await serve(t, (request, response) => {
      asked.push(request.headers['if-none-match']);
      if (request.url === '/a') response.writeHead(302, { Location: '/b' }).end();
      else response.writeHead(304).end();
    });
    const validators = { url: `${origin}/b`, etag: '"1"', lastModified: null };
    const answer = await get(`${origin}/a`, { validators });
    assert.equal(answer.status, 304);
    assert.deepEqual(asked, [undefined, '"1"']);
  });
});

describe('a certificate', () => {
  const fixture = (name: string) => readFileSync(new URL(`../fixture/${name}`, import.meta.url));

  test('with an untrusted certificate is refused, and so is plain text', async (t) => {
    const key = fixture('self-signed.key.pem');
    const cert = fixture('self-signed.pem');
    const server = createTlsServer({ key, cert }, (_, response) => response.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    assert.equal(await codeOf(get(`https://127.0.0.1:${port}/`)), 'certificate_invalid');
    const plain = await serve(t, (_, response) => response.end('hello'));
    assert.equal(await codeOf(get(plain.replace('http:', 'https:'))), 'certificate_invalid');
  });
});
