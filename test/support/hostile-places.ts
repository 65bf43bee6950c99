/**
 * A third set of hostile input: places that a corpus follows, pages that are large once they are
 * unpacked or decoded, and files just small enough to be read on the event loop.
 */
import { gzipSync } from 'node:zlib';
import { limits } from '../../src/kernel/limits/limits.ts';
import { secondFiles } from './hostile-files.ts';
import { files } from './hostile-inputs.ts';
import type { Cleanup } from './temporary.ts';
import { serveWeb } from './web-server.ts';

const megabyte = 1_000_000;
const filled = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length));
const listed = (count: number, entry: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => entry(n)).join('\n');
const item = (n: number): string => `<item><title>B ${n}</title><link>/b/${n}</link></item>`;
const jsonFeed = 'https://jsonfeed.org/version/1';
const page = '<title>Page</title><p>Some words here.</p>';

export interface HostilePlace {
  readonly kind: 'feed' | 'site' | 'page';
  readonly path: string;
  /** `ORIGIN` stands for the address of the site. */
  readonly body: () => string | Buffer;
  readonly type?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

const nothing = { include: ['/nothing/*'], limit: 100_000 };

export const places: Readonly<Record<string, HostilePlace>> = {
  'a feed of many entries': {
    ...{ kind: 'feed', path: '/many.rss', options: nothing },
    body: () => `<rss><channel>${listed(100_000, item)}</channel></rss>`,
  },
  'a feed of empty elements': {
    ...{ kind: 'feed', path: '/empty.rss' },
    body: () => `<rss><channel>${filled('<a/>', 3.9 * megabyte)}</channel></rss>`,
  },
  'a feed that opens entries only': {
    ...{ kind: 'feed', path: '/open.rss' },
    body: () => `<rss><channel>${filled('<item>', 8 * megabyte)}`,
  },
  'a feed of objects': {
    ...{ kind: 'feed', path: '/objects.json' },
    body: () => `{"version":"${jsonFeed}","items":[],"a":[${filled('{},', 20 * megabyte)}{}]}`,
  },
  'a feed of deep lists': {
    ...{ kind: 'feed', path: '/deep.json' },
    body: () => `{"version":"${jsonFeed}","items":${filled('[', 8 * megabyte)}`,
  },
  'a feed in another charset': {
    ...{ kind: 'feed', path: '/charset.rss', type: 'application/rss+xml; charset=big5' },
    body: () => Buffer.alloc(60 * megabyte, 0x81),
  },
  'a sitemap of dated pages': {
    ...{ kind: 'site', path: '/dated/sitemap.xml', options: nothing },
    body: () =>
      `<urlset>${listed(100_000, (n) => `<loc>ORIGIN/p/${n}</loc><lastmod>2026</lastmod>`)}`,
  },
  'a sitemap of long names': {
    ...{ kind: 'site', path: '/names/sitemap.xml' },
    body: () => filled(`<${'a'.repeat(64)}:loc><${'b'.repeat(65)}:loc>`, 15 * megabyte),
  },
  'a site of links': {
    ...{ kind: 'site', path: '/links', options: { limit: 2, depth: 1 } },
    body: () => `${page}${listed(100_000, (n) => `<a href="/n/${n}?b=%7e&c=${n}">x</a>`)}`,
  },
  'a page of markup for a browser': {
    ...{ kind: 'page', path: '/shell' },
    body: () => `<script></script>${filled('<', 20 * megabyte)}`,
  },
  'a page in Big5': {
    ...{ kind: 'page', path: '/big5', type: 'text/html; charset=big5' },
    body: () => Buffer.alloc(60 * megabyte, 0x81),
  },
  'a page in ISO-2022-JP': {
    ...{ kind: 'page', path: '/japanese', type: 'text/html; charset=iso-2022-jp' },
    body: () => Buffer.alloc(60 * megabyte, 0x1b),
  },
};

/** Serves all of them, compressed. */
export async function servePlaces(t: Cleanup): Promise<{ host: string; origin: string }> {
  const byPath = new Map(Object.values(places).map((place) => [place.path, place]));
  const packed = new Map<string, Buffer>();
  const { host, origin } = await serveWeb(t, (request, response) => {
    const place = byPath.get(request.url ?? '');
    if (!place) return void response.writeHead(404).end();
    const body = packed.get(place.path) ?? packedBody(place, `http://${request.headers.host}`);
    packed.set(place.path, body);
    const type = place.type ?? 'text/html';
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(body);
  });
  return { host, origin };
}

function packedBody({ body }: HostilePlace, origin: string): Buffer {
  const content = body();
  return gzipSync(typeof content === 'string' ? content.replaceAll('ORIGIN', origin) : content, {
    level: 1,
  });
}

/** The files of the other sets, cut or repeated to what is read on the event loop. */
export function thirdFiles(): Record<string, Buffer> {
  const { markdownInProcessBytesMax, inProcessBytesMax } = limits.parser;
  const entries = Object.entries({ ...files, ...made(secondFiles) }).flatMap(([name, content]) => {
    const bytes = Buffer.from(content as string);
    if (bytes.length < 1000) return [];
    return [
      [`${name}.md`, sized(bytes, markdownInProcessBytesMax - 1)],
      [`${name}.txt`, sized(bytes, inProcessBytesMax - 1)],
    ] as const;
  });
  return Object.fromEntries(entries);
}

function made(all: Readonly<Record<string, () => string | Buffer>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).map(([name, make]) => [name, make()]));
}

function sized(bytes: Buffer, length: number): Buffer {
  return Buffer.alloc(length, bytes.subarray(0, length));
}
