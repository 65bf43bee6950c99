/** The pages of a sitemap and of those that it names. It must be read completely. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { LinkFinder, MappedLink, PageScope } from '../../../pipeline/crawl/page-links.ts';
import { readUrl } from '../../../pipeline/fetch/url.ts';
import type { PageReader } from './page-reader.ts';

const unzip = promisify(gunzip);
const accept = 'application/xml, text/xml, text/plain;q=0.8, */*;q=0.1';

interface Mapping {
  readonly finder: LinkFinder;
  readonly signal: AbortSignal;
  readonly root: URL;
  readonly scope: PageScope;
  readonly pagesMax: number;
}

export async function pagesInSitemap(
  reader: PageReader,
  { finder, signal, root, scope, pagesMax }: Mapping,
): Promise<MappedLink[]> {
  const queue = [root.href];
  const seen = new Set<string>();
  const pages = new Map<string, MappedLink>();
  for (let place = queue.shift(); place !== undefined; place = queue.shift()) {
    if (seen.has(place)) continue;
    seen.add(place);
    if (seen.size > limits.fetch.sitemapsMax)
      throw beyond(root, `${limits.fetch.sitemapsMax} sitemaps`);
    const bytes = await bytesOf(reader, place);
    const { pages: found, sitemaps, isSitemap } = await finder.sitemap(bytes, scope, signal);
    if (found.length + sitemaps.length === 0 && !isSitemap) {
      throw new Failure('bad_response', `${place} is no sitemap, or names no page of its site`);
    }
    for (const page of found) pages.set(page.url, page);
    if (pages.size > pagesMax) throw beyond(root, `${pagesMax} pages`);
    for (const inner of sitemaps) queue.push(readUrl(inner, place).href);
  }
  return [...pages.values()];
}

function beyond(root: URL, most: string): Failure {
  return new Failure('too_many_sources', `${root.href} names more than ${most}`);
}

async function bytesOf(reader: PageReader, place: string): Promise<Uint8Array> {
  const answer = await reader.raw(place, { accept });
  const bytes = answer?.bytes ?? new Uint8Array();
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await unzip(bytes, { maxOutputLength: limits.fetch.sitemapBytesMax });
  } catch (error) {
    throw new Failure('bad_response', `${place} cannot be unpacked`, { cause: error });
  }
}
