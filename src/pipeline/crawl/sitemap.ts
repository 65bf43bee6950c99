/** Reads the sitemaps of a site, compressed or not, sequentially. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Failure, toFailure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Fetcher } from '../fetch/http/http.ts';
import type { RobotsCheck } from '../fetch/robots/robots-check.ts';
import type { FoundLink, FoundLinks, LinkFinder, PageScope } from './page-links.ts';

const unzip = promisify(gunzip);

export interface SitemapReading {
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
  readonly root: URL;
  readonly pagesMax: number;
  readonly scope: PageScope;
  readonly finder: LinkFinder;
  readonly robots: RobotsCheck;
}

/** All pages in the sitemaps, within the limits. A sitemap that fails is skipped. */
export async function readSitemaps(reading: SitemapReading): Promise<FoundLink[]> {
  const { robots, root, signal } = reading;
  // If robots.txt names none, the usual address is tried.
  const { sitemaps } = robots;
  const queue = sitemaps.length > 0 ? [...sitemaps] : [new URL('/sitemap.xml', root).href];
  const seen = new Set<string>();
  const pages = new Map<string, FoundLink>();
  while (queue.length > 0 && seen.size < limits.fetch.sitemapsMax && !signal.aborted) {
    const place = queue.shift() ?? '';
    if (seen.has(place) || !URL.canParse(place, root.href)) continue;
    seen.add(place);
    const sitemap = await readOne(new URL(place, root.href), reading);
    queue.push(...sitemap.sitemaps.slice(0, limits.fetch.sitemapsMax));
    for (const page of sitemap.pages) {
      pages.set(page.url, page);
      if (pages.size >= reading.pagesMax) return [...pages.values()];
    }
  }
  return [...pages.values()];
}

const nothing: FoundLinks = { pages: [], sitemaps: [], isSitemap: false };

async function readOne(url: URL, reading: SitemapReading): Promise<FoundLinks> {
  const { fetcher, signal, robots, scope, finder } = reading;
  try {
    const answer = await fetcher.get({
      url,
      accept: 'application/xml, text/xml, text/plain;q=0.8, */*;q=0.1',
      signal,
      redirectsMax: limits.fetch.robotsRedirectsMax,
      bounds: { ...bounds, beyond: 'cut' },
      beforeHop: (hop) => robots.admitBeside(hop),
    });
    if (answer.status !== 200) return nothing;
    return await finder.sitemap(await unzipped(answer.bytes), scope, signal);
  } catch (error) {
    // A crawl continues without it, by links. Only a defect of Pawl is rethrown.
    if (toFailure(error).code === 'internal_error') throw error;
    return nothing;
  }
}

const bounds = {
  wireBytesMax: limits.fetch.sitemapBytesMax,
  bytesMax: limits.fetch.sitemapBytesMax,
};

/** `sitemap.xml.gz` is compressed as a file, not as a response. */
async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: limits.fetch.sitemapBytesMax });
  } catch (error) {
    throw new Failure('bad_response', 'the sitemap cannot be unpacked', { cause: error });
  }
}
