/** A small web site whose pages a test can break, mend and hold back. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../support/temporary.ts';

export interface Site {
  readonly origin: string;
  readonly host: string;
  /** Pages below this path answer 404 until it is mended. */
  break(path: string): void;
  mend(path: string): void;
  /** What this path answers from now on, instead of a page with text. */
  serve(path: string, html: string): void;
  /** Pages below this path are not answered until they are released. */
  hold(path: string): void;
  release(path: string): void;
  /** How many requests below this path are held back. */
  waiting(path: string): number;
}

export async function openSite(t: Cleanup): Promise<Site> {
  const broken = new Set<string>();
  const held = new Map<string, (() => void)[]>();
  const served = new Map<string, string>();
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const answer = (): void => {
      const isMissing = url === '/robots.txt' || [...broken].some((path) => url.startsWith(path));
      response.writeHead(isMissing ? 404 : 200, { 'content-type': 'text/html' });
      response.end(isMissing ? 'nothing' : (served.get(url) ?? pageOf(url)));
    };
    const path = [...held.keys()].find((prefix) => url.startsWith(prefix));
    if (path === undefined) answer();
    else held.get(path)?.push(answer);
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
    hold: (path) => void held.set(path, []),
    waiting: (path) => held.get(path)?.length ?? 0,
    release: (path) => {
      const waiting = held.get(path) ?? [];
      held.delete(path);
      for (const answer of waiting) answer();
    },
  };
}

function pageOf(url: string): string {
  const name = url.replace(/\W+/g, ' ').trim();
  const text = `The page ${name} tells of a harmonium that plays by itself at night. `.repeat(4);
  return `<!doctype html><title>About ${name}</title><main><h1>${name}</h1><p>${text}</p></main>`;
}
