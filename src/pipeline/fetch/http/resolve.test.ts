import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { hangSignal } from '../../../../test/support/patience.ts';
import { realWorld } from '../../../app/world.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { allowedHosts, classifyAddress } from '../address.ts';
import type { Connect, Endpoint } from './connect.ts';
import { httpFetcher } from './http.ts';
import { type Resolve, resolveTarget } from './resolve.ts';

const none = allowedHosts([]);

async function refusalOf(url: string, resolve: Resolve, allowed = none): Promise<string> {
  try {
    const { addresses } = await resolveTarget(new URL(url), { resolve, allowed });
    return addresses.join(' ');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    assert.doesNotMatch(error.message, /10\.0\.0\.1|169\.254|fd00/);
    return error.code;
  }
}

describe('a target', () => {
  const rows: readonly [name: string, url: string, answer: string[], expected: string][] = [
    ['all public', 'http://a.example/', ['1.1.1.1', '2606:4700::1'], '1.1.1.1 2606:4700::1'],
    ['IPv6 after IPv4', 'http://a.example/', ['2606:4700::1', '1.1.1.1'], '1.1.1.1 2606:4700::1'],
    ['one private of two', 'http://a.example/', ['1.1.1.1', '10.0.0.1'], 'private_address'],
    ['metadata by name', 'http://a.example/', ['169.254.169.254'], 'private_address'],
    ['metadata by IPv6', 'http://a.example/', ['fd00:ec2::254'], 'private_address'],
    ['nothing', 'http://a.example/', [], 'network_error'],
    ['garbage', 'http://a.example/', ['not an address'], 'private_address'],
    ['a name of this machine', 'http://localhost/', ['1.1.1.1'], 'private_address'],
    ['a short name', 'http://wiki/', ['1.1.1.1'], 'private_address'],
    ['a literal', 'http://172.16.0.1/', [], 'private_address'],
    ['a public literal', 'http://1.1.1.1/', [], '1.1.1.1'],
    ['a port of SSH', 'http://a.example:22/', ['1.1.1.1'], 'private_address'],
    ['a port of Redis', 'http://a.example:6379/', ['1.1.1.1'], 'private_address'],
    ['port 0', 'http://a.example:0/', ['1.1.1.1'], 'private_address'],
    ['another port of the web', 'http://a.example:8080/', ['1.1.1.1'], '1.1.1.1'],
  ];
  for (const [name, url, answer, expected] of rows) {
    test(`with ${name} is ${expected}`, async () => {
      assert.equal(await refusalOf(url, async () => answer), expected);
    });
  }

  const allowed = allowedHosts(['wiki.corp:8080', '127.0.0.1:4010', 'metadata.google.internal:80']);
  const exceptions: readonly [url: string, answer: string[], expected: string][] = [
    ['http://wiki.corp:8080/', ['10.0.0.1'], '10.0.0.1'],
    ['http://wiki.corp/', ['10.0.0.1'], 'private_address'],
    ['http://wiki.corp:8080/', ['169.254.169.254'], 'private_address'],
    ['http://wiki.corp:8080/', ['10.0.0.1', '169.254.169.254'], 'private_address'],
    ['http://127.0.0.1:4010/', [], '127.0.0.1'],
    ['http://127.0.0.1:4011/', [], 'private_address'],
    ['http://metadata.google.internal/', ['10.0.0.1'], 'private_address'],
  ];
  for (const [url, answer, expected] of exceptions) {
    test(`by exception: ${url} at ${answer.join(', ') || 'itself'} is ${expected}`, async () => {
      assert.equal(await refusalOf(url, async () => answer, allowed), expected);
    });
  }

  test('is not waited for if the resolver hangs', async () => {
    const fetcher = httpFetcher({
      world: realWorld(),
      allowed: none,
      resolve: () => new Promise(() => undefined),
    });
    const controller = new AbortController();
    const work = fetcher.get({ ...requestFor('http://a.example/'), signal: controller.signal });
    controller.abort(new Failure('canceled', 'the job was canceled'));
    await assert.rejects(work, { code: 'canceled' });
  });
});

const bounds = { wireBytesMax: 1000, bytesMax: 1000, beyond: 'fail' } as const;

function requestFor(url: string) {
  const signal = hangSignal();
  return { url: new URL(url), accept: '*/*', signal, redirectsMax: 5, bounds };
}

/** Records its targets, and connects every public address to a server on loopback. */
async function recordingConnect(t: TestContext, respond: (path: string) => string | undefined) {
  const server = createServer((request, response) => {
    const location = respond(request.url ?? '');
    if (location === undefined) response.end('content');
    else response.writeHead(302, { Location: location }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const connections: Endpoint[] = [];
  const connect: Connect = async (endpoint) => {
    connections.push(endpoint);
    const socket = connectTcp({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    Object.defineProperty(socket, 'remoteAddress', { value: endpoint.address });
    return socket;
  };
  return { connect, connections };
}

const hidden = [
  ...['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
  ...['::1', 'fd00:ec2::254', 'fe80::1', '::ffff:7f00:1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::'],
];

describe('1,000 names that change their address between two lookups', () => {
  test('are connected only at the address that was checked', async (t) => {
    const { connect, connections } = await recordingConnect(t, () => undefined);
    let lookups = 0;
    const resolve: Resolve = async () => {
      const flip = lookups++;
      // Every other answer is public; a second lookup for the same connection would get the other.
      return flip % 2 === 0 ? ['93.184.216.34'] : [hidden[flip % hidden.length] as string];
    };
    const fetcher = httpFetcher({ world: realWorld(), allowed: none, resolve, connect });
    const codes = new Map<string, number>();
    for (let flip = 0; flip < 1000; flip += 1) {
      const code = await fetcher.get(requestFor(`http://rebind-${flip}.example/`)).then(
        ({ status }) => String(status),
        (error) => (error as Failure).code,
      );
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    assert.deepEqual(Object.fromEntries(codes), { 200: 500, private_address: 500 });
    assert.equal(lookups, 1000);
    assert.equal(connections.length, 500);
    assert.deepEqual(
      connections.filter(({ address }) => classifyAddress(address) !== 'public'),
      [],
    );
  });
});

describe('a redirect to a name with a private address', () => {
  for (let depth = 1; depth <= 5; depth += 1) {
    for (const address of hidden) {
      test(`at hop ${depth}, to ${address}, is not connected to`, async (t) => {
        const { connect, connections } = await recordingConnect(t, (path) => {
          const hop = Number(path.slice(1)) + 1;
          return hop === depth ? 'http://inside.example/' : `/${hop}`;
        });
        const resolve: Resolve = async (name) => [name === 'inside.example' ? address : '1.1.1.1'];
        const fetcher = httpFetcher({ world: realWorld(), allowed: none, resolve, connect });
        await assert.rejects(fetcher.get(requestFor('http://outside.example/0')), {
          code: 'private_address',
        });
        assert.equal(connections.length, depth);
        assert.ok(connections.every((endpoint) => endpoint.address === '1.1.1.1'));
      });
    }
  }
});

describe('a connection', () => {
  test('tries the next address when one does not respond, and keeps name and port', async (t) => {
    const { connect, connections } = await recordingConnect(t, () => undefined);
    const resolve: Resolve = async () => ['1.1.1.1', '1.0.0.1', '2606:4700::1'];
    const fetcher = httpFetcher({
      world: realWorld(),
      allowed: none,
      resolve,
      connect: async (endpoint, signal) => {
        if (endpoint.address === '1.1.1.1') {
          connections.push(endpoint);
          throw Object.assign(new Error('connect ECONNREFUSED 1.1.1.1:80'), {
            code: 'ECONNREFUSED',
          });
        }
        return connect(endpoint, signal);
      },
    });
    const answer = await fetcher.get(requestFor('http://a.example:8080/'));
    assert.equal(answer.status, 200);
    assert.deepEqual(
      connections.map(({ address, port, servername }) => [address, port, servername]),
      [
        ['1.1.1.1', 8080, 'a.example'],
        ['1.0.0.1', 8080, 'a.example'],
      ],
    );
  });

  test('to another address is dropped', async (t) => {
    const { connect } = await recordingConnect(t, () => undefined);
    const fetcher = httpFetcher({
      world: realWorld(),
      allowed: none,
      resolve: async () => ['1.1.1.1'],
      connect: (endpoint, signal) => connect({ ...endpoint, address: '10.0.0.1' }, signal),
    });
    await assert.rejects(fetcher.get(requestFor('http://a.example/')), { code: 'private_address' });
  });

  test('that is refused fails without the address in its message', async () => {
    const fetcher = httpFetcher({
      world: realWorld(),
      allowed: none,
      resolve: async () => ['1.1.1.1'],
      connect: async () => {
        throw Object.assign(new Error('connect EHOSTUNREACH 1.1.1.1:80'), { code: 'EHOSTUNREACH' });
      },
    });
    await assert.rejects(fetcher.get(requestFor('http://a.example/')), {
      code: 'network_error',
      message: 'a.example: there is no way to it from here (EHOSTUNREACH)',
    });
  });
});
