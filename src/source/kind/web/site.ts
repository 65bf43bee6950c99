/**
 * A site as a source: the pages of a sitemap, or what links lead to. A page of a sitemap is asked
 * for only if its `lastmod` is new or absent. A crawl asks for every page, with the validators of
 * the last run; the links of an unchanged page are stored with them.
 */
import {
  compareKeys,
  type FollowedPlace,
  type ListFrom,
  type SourceKind,
} from '../../../engine/sync/source-kind.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { MappedLink } from '../../../pipeline/crawl/page-links.ts';
import { gateOf, readUrl } from '../../../pipeline/fetch/url.ts';
import { crawlFrom, urlSource } from '../../sources.ts';
import { Crawling } from './crawling.ts';
import { pagesOf, type Row, sorted } from './listing.ts';
import { PageReader, readPage, type WebTools } from './page-reader.ts';
import { stampText } from './page-stamp.ts';
import { pagesInSitemap } from './sitemap.ts';

export function siteKind(tools: WebTools): SourceKind {
  return {
    name: 'site',
    // A page may be missing from one listing only because another page could not be read.
    removal: 'twice',
    check: async ({ location, options }) => {
      const source = urlSource(location);
      crawlFrom([source], options);
      return source.source;
    },
    list: (place, from) =>
      pagesOf(isSitemap(place) ? mapped(tools, place, from) : crawled(tools, place, from)),
    read: (_place, key, { signal }) => readPage(tools, key, signal),
    hasPages: true,
    sourceOf: (_place, key) => ({ kind: 'upload', source: key }),
  };
}

function isSitemap({ location }: FollowedPlace): boolean {
  return /\/[^/]*sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$/i.test(new URL(location).pathname);
}

async function* mapped(
  tools: WebTools,
  place: FollowedPlace,
  { after, signal, stamps }: ListFrom,
): AsyncGenerator<Row> {
  const reader = new PageReader(tools, signal);
  const { include = [], exclude = [], limit: pagesMax = limits.job.crawlPagesMax } = place.options;
  const root = readUrl(place.location);
  const scope = { page: root.href, site: gateOf(root), include, exclude };
  const { finder } = tools;
  const pages = await pagesInSitemap(reader, { finder, signal, root, scope, pagesMax });
  const rest = sorted(pages, ({ url }) => url).filter(({ url }) => compareKeys(url, after) > 0);
  const known = await stamps(rest.map(({ url }) => url));
  for (const page of rest) {
    const row = await rowOfMapped(reader, page, known.get(page.url));
    if (row) yield row;
  }
}

/** Undefined: it is there, and no document. */
async function rowOfMapped(
  reader: PageReader,
  { url: key, modified }: MappedLink,
  stamp: string | undefined,
): Promise<Row | undefined> {
  const dated = modified === undefined ? undefined : `lastmod ${modified}`;
  // The page is read when it is submitted, if it differs at all.
  if (dated !== undefined) return { key, entry: { key, stamp: dated, size: null } };
  const found = await reader.read(key, stamp);
  switch (found.is) {
    case 'gone':
      return { key, isGone: true };
    case 'failed':
      return { key, failure: found.failure };
    case 'same':
      return { key, entry: { key, stamp: stamp ?? null, size: null } };
    case 'page': {
      const { bytes } = found;
      const own = stampText(found.stamp);
      return { key, entry: { key, stamp: own, size: bytes.length, bytes } };
    }
    case 'skipped':
      return undefined;
  }
}

/** Keys come in order only after the whole crawl. */
async function* crawled(
  tools: WebTools,
  place: FollowedPlace,
  { after, signal, stamps }: ListFrom,
): AsyncGenerator<Row> {
  const crawling = new Crawling({ reader: new PageReader(tools, signal), tools, signal, stamps });
  const crawl = crawlFrom([urlSource(place.location)], place.options);
  const rows = await crawling.run(place.location, crawl);
  for (const row of sorted(rows, ({ key }) => key)) {
    if (compareKeys(row.key, after) > 0) yield row;
  }
  if (!crawling.isCut) return;
  const message = `${place.location} has more than ${crawl.pagesMax} pages: raise the limit`;
  yield { key: '', failure: new Failure('too_many_sources', message) };
}
