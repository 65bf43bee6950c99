/**
 * Adds the pages that a crawled page links to. The new pages become items of the same job in the
 * transaction that commits the fetched page: a killed crawl continues with exactly what it had
 * found.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import type { NewEvent } from '../../observe/event.ts';
import {
  addPages,
  type Crawl,
  type FoundPage,
  markKnown,
  moveSite,
} from '../../store/crawl/crawls.ts';
import type { Transaction } from '../../store/driver/database.ts';
import type { Fetcher } from '../fetch/http/http.ts';
import type { RobotsCheck } from '../fetch/robots/robots-check.ts';
import { canonicalUrl, gateOf } from '../fetch/url.ts';
import type { PipelineItem } from '../pipeline.ts';
import { type FoundLink, type LinkFinder, linksHere, type PageScope } from './page-links.ts';
import { readSitemaps } from './sitemap.ts';

export interface CrawledPage {
  readonly item: PipelineItem;
  readonly crawl: Crawl & { readonly depth: number };
  /** The address after the last redirect. */
  readonly url: URL;
  /** Undefined if it is not HTML, or must not be followed. */
  readonly html: string | undefined;
  readonly robots: RobotsCheck;
  readonly fetcher: Fetcher;
  /** Finds links; this thread does if absent. */
  readonly finder?: LinkFinder | undefined;
  readonly world: World;
  readonly signal: AbortSignal;
}

export type Discovery = (transaction: Transaction, now: number) => Promise<NewEvent[]>;

/** Finds new pages and returns what to write. */
export async function discover(page: CrawledPage): Promise<Discovery> {
  const { item, crawl, url } = page;
  const isRoot = crawl.depth === 0;
  const site = isRoot ? gateOf(url) : crawl.site;
  const all = await findPages(page, { ...crawl, site });
  // Nobody named the pages that robots.txt forbids: they are skipped without a failure.
  const found = await page.robots.allowedOf(all);
  const forbidden = all.length - found.length;
  return async (transaction, now) => {
    const { jobId } = item;
    const canonical = canonicalUrl(url);
    if (site !== crawl.site) await moveSite(transaction, { jobId, site });
    if (canonical !== item.source) {
      await markKnown(transaction, { jobId, url: canonical, depth: crawl.depth });
    }
    const added = await addPages(transaction, { jobId, pages: found, now });
    if (all.length === 0) return [];
    const detail = { found: found.length, added, forbidden, depth: crawl.depth + 1 };
    return [{ kind: 'pages_found', jobId, itemId: item.id, detail }];
  };
}

async function findPages(page: CrawledPage, crawl: CrawledPage['crawl']): Promise<FoundPage[]> {
  const { url, html } = page;
  if (crawl.depth >= crawl.depthMax || gateOf(url) !== crawl.site) return [];
  const { finder = linksHere, signal } = page;
  const { site, include, exclude } = crawl;
  const scope = { page: url.href, site, include, exclude };
  const links = html === undefined ? [] : await finder.links(html, scope, signal);
  const named = crawl.depth === 0 ? await namedPages(page, crawl.pagesMax, scope) : [];
  return [...links, ...named].map((found) => ({ ...found, depth: crawl.depth + 1 }));
}

/**
 * The pages in the site's sitemaps, as far as they can be read in their share of the step's time.
 */
async function namedPages(
  { url, robots, fetcher, finder = linksHere, signal, world }: CrawledPage,
  pagesMax: number,
  scope: PageScope,
): Promise<FoundLink[]> {
  const share = new AbortController();
  const cancel = world.setTimer(() => share.abort(), limits.fetch.sitemapsMs);
  const both = AbortSignal.any([signal, share.signal]);
  const reading = { fetcher, finder, signal: both, scope, robots, root: url, pagesMax };
  return readSitemaps(reading).finally(cancel);
}
