/** A site on loopback that a test changes: pages with ETags, and a log of what was sent. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from './temporary.ts';

export interface TestSite {
  readonly origin: string;
  readonly host: string;
  /** Bodies by path. A number is a status without a body. */
  readonly pages: Map<string, string | number>;
  /** `200 /a`, in order of arrival. */
  readonly answers: string[];
  /** Paths whose body was sent since this was last called. */
  bodies(): string[];
  close(): void;
}

const typeOf = (path: string): string => {
  if (/\.(?:xml|rss|atom)$/.test(path)) return 'application/xml';
  return path.endsWith('.json') ? 'application/json' : 'text/html; charset=utf-8';
};

export async function startSite(
  t: Cleanup,
  given: Readonly<Record<string, string | number>> = {},
): Promise<TestSite> {
  const pages = new Map(Object.entries(given));
  const answers: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const page = pages.get(path);
    const status = typeof page === 'number' ? page : page === undefined ? 404 : 200;
    if (typeof page !== 'string') {
      answers.push(`${status} ${path}`);
      response.writeHead(status).end();
      return;
    }
    const etag = `"${createHash('sha256').update(page).digest('hex').slice(0, 16)}"`;
    const isSame = request.headers['if-none-match'] === etag;
    answers.push(`${isSame ? 304 : 200} ${path}`);
    response.writeHead(isSame ? 304 : 200, { etag, 'content-type': typeOf(path) });
    response.end(isSame ? undefined : page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  t.after(close);
  const bodies = (): string[] =>
    answers
      .splice(0)
      .flatMap((answer) => (answer.startsWith('200 ') ? answer.slice(4) : []))
      .sort();
  return { origin: `http://${host}`, host, pages, answers, bodies, close };
}

export function htmlPage(title: string, text: string, ...links: readonly string[]): string {
  const anchors = links.map((link) => `<a href="${link}">${link}</a>`).join(' ');
  return `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p><p>${anchors}</p>`;
}
