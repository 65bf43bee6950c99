/** A web site on loopback for one test: pages by path, and a record of requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

export interface WebServer {
  /** `127.0.0.1:PORT`, to be allowed by name. */
  readonly host: string;
  readonly origin: string;
  /** The paths in the order of the requests. */
  readonly asked: readonly string[];
}

export async function serveWeb(t: Cleanup, respond: Respond): Promise<WebServer> {
  const asked: string[] = [];
  const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
    asked.push(request.url ?? '');
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, origin: `http://${host}`, asked };
}

/** A site of fixed pages; any other path is a 404. */
export function pagesOf(pages: Readonly<Record<string, string>>): Respond {
  return (request, response) => {
    const body = pages[(request.url ?? '').split('?')[0] ?? ''];
    const type = /\.(\w+)$/.exec(request.url ?? '')?.[1] ?? 'html';
    response.writeHead(body === undefined ? 404 : 200, {
      'Content-Type': types[type] ?? 'text/html',
    });
    response.end(body ?? 'not found');
  };
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};
