/** Sitemaps: the pages that a site itself names, as XML or as lines of text, perhaps compressed. */
import { gunzipSync } from 'node:zlib';
import { Failure, toFailure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import type { Fetcher } from '../fetch/http.ts';
import type { RobotsCheck } from '../fetch/robots-check.ts';

export interface Sitemap {
  readonly pages: readonly string[];
  /** Other sitemaps, where it is an index of them. */
  readonly sitemaps: readonly string[];
}

/** Reads `<loc>` and nothing else, so there is no entity to expand and nothing to nest. */
export function parseSitemap(text: string): Sitemap {
  const isIndex = /<(?:[\w-]+:)?sitemapindex\b/i.test(text.slice(0, 4096));
  const found: string[] = [];
  const isXml = text.trimStart().startsWith('<');
  const places = isXml
    ? text.matchAll(/<(?:[\w-]+:)?loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,8192})/gi)
    : text.matchAll(/^\s*(https?:\/\/\S{1,8192})\s*$/gim);
  for (const [, place = ''] of places) {
    found.push(place.replaceAll('&amp;', '&').replaceAll('&apos;', "'").replaceAll('&quot;', '"'));
    if (found.length >= limits.job.crawlPagesMax) break;
  }
  return isIndex ? { pages: [], sitemaps: found } : { pages: found, sitemaps: [] };
}

export interface SitemapReading {
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
  readonly root: URL;
  readonly pagesMax: number;
  readonly isInScope: (url: URL) => boolean;
  readonly robots: RobotsCheck;
}

/** All pages that the site names, as far as its bounds go. A sitemap that fails is passed over. */
export async function readSitemaps(reading: SitemapReading): Promise<URL[]> {
  const { robots, root, signal } = reading;
  // Where robots.txt names none, the usual place is looked at.
  const { sitemaps } = robots;
  const queue = sitemaps.length > 0 ? [...sitemaps] : [new URL('/sitemap.xml', root).href];
  const seen = new Set<string>();
  const pages = new Map<string, URL>();
  while (queue.length > 0 && seen.size < limits.fetch.sitemapsMax && !signal.aborted) {
    const place = queue.shift() ?? '';
    if (seen.has(place) || !URL.canParse(place, root.href)) continue;
    seen.add(place);
    const sitemap = await readOne(new URL(place, root.href), reading);
    queue.push(...sitemap.sitemaps.slice(0, limits.fetch.sitemapsMax));
    for (const page of sitemap.pages) {
      if (!URL.canParse(page)) continue;
      const url = new URL(page);
      if (reading.isInScope(url)) pages.set(url.href, url);
      if (pages.size >= reading.pagesMax) return [...pages.values()];
    }
  }
  return [...pages.values()];
}

const nothing: Sitemap = { pages: [], sitemaps: [] };

async function readOne(url: URL, reading: SitemapReading): Promise<Sitemap> {
  const { fetcher, signal, robots } = reading;
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
    return parseSitemap(new TextDecoder().decode(unzipped(answer.bytes)));
  } catch (error) {
    // A crawl goes on without: its links lead further. Only a defect of ours is not passed over.
    if (toFailure(error).code === 'internal_error') throw error;
    return nothing;
  }
}

const bounds = {
  wireBytesMax: limits.fetch.sitemapBytesMax,
  bytesMax: limits.fetch.sitemapBytesMax,
};

/** `sitemap.xml.gz` is compressed as a file, not as an answer. */
function unzipped(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.fetch.sitemapBytesMax });
  } catch (error) {
    throw new Failure('bad_response', 'the sitemap cannot be unpacked', { cause: error });
  }
}
