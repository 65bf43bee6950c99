import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerOptions, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/wait.ts';
import { limits } from '../kernel/limits/limits.ts';
import { guardConnections } from './connections.ts';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

interface Setup {
  readonly times?: ServerOptions;
  readonly bounds?: Parameters<typeof guardConnections>[1];
  readonly answer?: (response: ServerResponse) => void;
}

const answerAtOnce = (response: ServerResponse): void => void response.end('well');

/** A server that closes no connection on its own, unless options say so. */
async function setup(t: TestContext, { times, bounds, answer = answerAtOnce }: Setup = {}) {
  const never = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
  const server = createServer({ ...never, ...times });
  server.on('request', (_, response) => answer(response));
  guardConnections(server, bounds);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  /** A connection whose first request has been answered. */
  const openIdle = async (): Promise<Socket> => {
    const socket = await open();
    socket.write(request);
    await once(socket, 'data');
    return socket;
  };
  return { open, openIdle, port, server };
}

test('the oldest connection without a request is closed for the newest', async (t) => {
  const { open, openIdle, port } = await setup(t);
  const used = await openIdle();
  const silent: Socket[] = [];
  for (let count = 0; count < limits.request.silentConnectionsMax + 5; count += 1) {
    silent.push(await open());
  }
  await until(() => silent.slice(0, 5).every(({ closed }) => closed), {
    what: 'five to be closed',
  });
  assert.equal(silent.filter(({ closed }) => closed).length, 5);
  assert.equal(used.closed, false, 'a connection that has sent a request stays');
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'well');
});

test('idle connections make room for new ones', async (t) => {
  const bounds = { connectionsMax: 10, silentConnectionsMax: 5, idleConnectionsFactor: 0.8 };
  const { openIdle } = await setup(t, { bounds });
  const idle: Socket[] = [];
  for (let count = 0; count < 8; count += 1) idle.push(await openIdle());
  assert.deepEqual(
    idle.filter(({ closed }) => closed),
    [],
  );
  await openIdle();
  await until(() => idle.every(({ closed }) => closed), { what: 'the idle ones to be closed' });
});

test('the time for headers begins with the first byte of a request', async (t) => {
  const times = {
    headersTimeout: 3000,
    connectionsCheckingInterval: 20,
    keepAliveTimeout: 60_000,
  };
  const { open, openIdle } = await setup(t, { times });
  const [idle, half, silent] = [await openIdle(), await openIdle(), await open()];
  half.write('GET / HTTP/1.1\r\nHo');
  await until(() => half.closed && silent.closed, { what: 'the slow ones to be closed' });
  idle.write(request);
  await once(idle, 'data');
});

test('a server that closes waits for no client that keeps its connection', async (t) => {
  const answering = Promise.withResolvers<ServerResponse>();
  const answer = (response: ServerResponse): void => {
    response.write('the first');
    answering.resolve(response);
  };
  const { open, server } = await setup(t, { times: { keepAliveTimeout: 600_000 }, answer });
  const socket = await open();
  socket.write(request);
  const response = await answering.promise;
  const closed = new Promise((resolve) => server.close(resolve));
  response.end('the last');
  const answered: Buffer[] = [];
  socket.on('data', (piece) => answered.push(piece));
  await Promise.all([closed, once(socket, 'close')]);
  assert.match(Buffer.concat(answered).toString(), /the last/);
});
