/** A small web site whose pages a test can break, fix and delay. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../support/temporary.ts';

export interface Site {
  readonly origin: string;
  readonly host: string;
  /** Pages below this path answer 404 until `mend` is called. */
  break(path: string): void;
  mend(path: string): void;
  /** The response of this path from now on, instead of a page with text. */
  serve(path: string, html: string): void;
  /** Pages below this path are not answered until they are released. */
  hold(path: string): void;
  release(path: string): void;
  /** The number of delayed requests below this path. */
  waiting(path: string): number;
}

export async function openSite(t: Cleanup): Promise<Site> {
  const broken = new Set<string>();
  const delayed = new Map<string, (() => void)[]>();
  const served = new Map<string, string>();
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const answer = (): void => {
      const isMissing = url === '/robots.txt' || [...broken].some((path) => url.startsWith(path));
      response.writeHead(isMissing ? 404 : 200, { 'content-type': 'text/html' });
      response.end(isMissing ? 'nothing' : (served.get(url) ?? pageOf(url)));
    };
    const path = [...delayed.keys()].find((prefix) => url.startsWith(prefix));
    if (path === undefined) answer();
    else delayed.get(path)?.push(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin: `http://${host}`,
    host,
    break: (path) => void broken.add(path),
    mend: (path) => void broken.delete(path),
    serve: (path, html) => void served.set(path, html),
    hold: (path) => void delayed.set(path, []),
    waiting: (path) => delayed.get(path)?.length ?? 0,
    release: (path) => {
      const waiting = delayed.get(path) ?? [];
      delayed.delete(path);
      for (const answer of waiting) answer();
    },
  };
}

function pageOf(url: string): string {
  const name = url.replace(/\W+/g, ' ').trim();
  const text = `The page ${name} tells of a harmonium that plays by itself at night. `.repeat(4);
  return `<!doctype html><title>About ${name}</title><main><h1>${name}</h1><p>${text}</p></main>`;
}
