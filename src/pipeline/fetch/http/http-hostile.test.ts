/** Responses that break the protocol, and responses that trigger further requests. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { codeOf } from '../../../../test/support/failure-code.ts';
import { hangSignal } from '../../../../test/support/patience.ts';
import { serveRaw } from '../../../../test/support/raw-server.ts';
import { serveWeb } from '../../../../test/support/web-server.ts';
import { realWorld } from '../../../app/world.ts';
import { allowedHosts } from '../address.ts';
import type { FetchResponse } from '../verdict.ts';
import { httpFetcher } from './http.ts';

const saying = (said: string) => (socket: Socket) => socket.end(said, 'latin1');

function get(url: string): Promise<FetchResponse> {
  const target = new URL(url);
  return httpFetcher({ world: realWorld(), allowed: allowedHosts([target.host]) }).get({
    url: target,
    accept: '*/*',
    signal: hangSignal(),
    redirectsMax: 5,
    bounds: { wireBytesMax: 1_000_000, bytesMax: 1_000_000, beyond: 'fail' },
  });
}

const ok = 'HTTP/1.1 200 OK\r\n';

describe('a response that breaks the protocol is not content', () => {
  const rows: readonly [name: string, said: string][] = [
    ['an upgrade that nobody asked for', 'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n'],
    ['the oldest protocol, without a header', '<html>hello</html>'],
    ['a header with a zero byte', `${ok}X-A: a\0b\r\nContent-Length: 1\r\n\r\na`],
    ['a header with a bare carriage return', `${ok}X-A: a\rX-B: b\r\nContent-Length: 1\r\n\r\na`],
    [
      'a length and chunks',
      `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['interim answers and then nothing', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5000)],
  ];
  for (const [name, said] of rows) {
    test(`${name}: tried again later`, async (t) => {
      assert.equal(await codeOf(get(await serveRaw(t, saying(said)))), 'network_error');
    });
  }

  test('more bytes than announced: the rest is ignored', async (t) => {
    const said = `${ok}Content-Length: 5\r\n\r\nhello${'x'.repeat(100_000)}`;
    const code = await codeOf(
      get(await serveRaw(t, saying(said))).then(({ bytes }) => {
        assert.equal(Buffer.from(bytes).toString(), 'hello');
      }),
    );
    assert.ok(code === 'no failure' || code === 'network_error', code);
  });

  test('eight-bit headers are kept as they are, and harm nothing', async (t) => {
    const said = `${ok}ETag: "\xe9"\r\nContent-Length: 1\r\n\r\na`;
    assert.equal((await get(await serveRaw(t, saying(said)))).headers.get('etag'), '"é"');
  });
});

describe('a response that triggers further requests', () => {
  test('gets no second request: neither for refresh nor for what it would preload', async (t) => {
    const { origin, asked } = await serveWeb(t, (_, response) => {
      response.writeHead(200, {
        Refresh: '0; url=/other',
        Link: '</style.css>; rel=preload; as=style',
        'Strict-Transport-Security': 'max-age=31536000',
        'Alt-Svc': 'h3=":443"',
      });
      response.end('<p>page');
    });
    assert.equal((await get(`${origin}/page`)).status, 200);
    assert.deepEqual(asked, ['/page']);
  });

  test('meets a new session each time: another connection, and none of its cookies', async (t) => {
    const connections = new Set<Socket>();
    const sent: (string | undefined)[] = [];
    const { origin } = await serveWeb(t, ({ socket, headers }, response) => {
      connections.add(socket);
      sent.push(headers.cookie);
      const cookies = Array.from({ length: 100 }, (_, at) => `session-${at}=known`);
      response.writeHead(403, { 'Set-Cookie': cookies }).end('captcha');
    });
    for (let time = 0; time < 3; time += 1) await get(origin);
    assert.equal(connections.size, 3);
    assert.deepEqual(sent, Array(3).fill(undefined));
  });

  test('is requested directly, ignoring a proxy in the environment', async (t) => {
    const proxy = await serveWeb(t, (_, response) => response.end('from the proxy'));
    const site = await serveWeb(t, (_, response) => response.end('from the site'));
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    t.after(() => {
      names.forEach((name, at) => {
        const value = before[at];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    });
    for (const name of names) process.env[name] = proxy.origin;
    assert.equal(Buffer.from((await get(site.origin)).bytes).toString(), 'from the site');
    assert.deepEqual(proxy.asked, []);
  });
});
