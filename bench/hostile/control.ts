/** The control of `bench -- hostile`: a bare server, delayed by nothing but the machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((_, response) => response.end('ok'));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`{"address":"http://127.0.0.1:${port}"}\n`);
});
