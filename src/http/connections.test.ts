import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/wait.ts';
import { limits } from '../kernel/limits/limits.ts';
import { guardConnections } from './connections.ts';

/** A server that closes no connection on its own. */
async function setup(t: TestContext) {
  const server = createServer({ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 });
  server.on('request', (_, response) => response.end('well'));
  guardConnections(server);
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
  return { open, port };
}

test('the oldest connection without a request is closed for the newest', async (t) => {
  const { open, port } = await setup(t);
  const used = await open();
  used.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(used, 'data');
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
