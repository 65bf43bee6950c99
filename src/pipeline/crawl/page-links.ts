/**
 * The pages that a page or a sitemap links to, restricted to the crawl. Pure, for untrusted text:
 * it also runs in text threads.
 */
import type { Crawl } from '../../store/crawl/crawls.ts';
import { canonicalUrl, gateOf } from '../fetch/url.ts';
import { linksOf } from './links.ts';
import { scopeOf } from './scope.ts';
import { parseSitemap } from './sitemap-text.ts';

/** The page a text was found on, and the scope of its crawl. */
export interface PageScope extends Pick<Crawl, 'site' | 'include' | 'exclude'> {
  /** The address of the page, the base of its links. */
  readonly page: string;
}

export interface FoundLink {
  /** In canonical form. */
  readonly url: string;
  readonly gate: string;
}

export interface MappedLink extends FoundLink {
  /** Its `lastmod`, if the sitemap has one. */
  readonly modified?: string;
}

export interface FoundLinks {
  readonly pages: readonly MappedLink[];
  /** Other sitemaps. */
  readonly sitemaps: readonly string[];
  /** Whether it has the element of a sitemap or of an index, even if it names nothing. */
  readonly isSitemap: boolean;
}

/** Finds pages in texts: in this thread, or in others if a text is long. */
export interface LinkFinder {
  readonly links: (
    html: string,
    scope: PageScope,
    signal: AbortSignal,
  ) => Promise<readonly FoundLink[]>;
  /** The text as UTF-8. */
  readonly sitemap: (
    text: Uint8Array,
    scope: PageScope,
    signal: AbortSignal,
  ) => Promise<FoundLinks>;
}

export const linksHere: LinkFinder = {
  links: async (html, scope) => linksIn(html, scope),
  sitemap: async (text, scope) => sitemapIn(text, scope),
};

export function linksIn(html: string, scope: PageScope): FoundLink[] {
  return linksOf(html, new URL(scope.page)).filter(scopeOf(scope)).map(toFound);
}

export function sitemapIn(bytes: Uint8Array, scope: PageScope): FoundLinks {
  const text = new TextDecoder().decode(bytes);
  const { pages, sitemaps, modified } = parseSitemap(text);
  const isInScope = scopeOf(scope);
  const found = pages.flatMap((page): MappedLink[] => {
    if (!URL.canParse(page)) return [];
    const url = new URL(page);
    const date = modified.get(page);
    return isInScope(url) ? [{ ...toFound(url), ...(date && { modified: date }) }] : [];
  });
  const isSitemap = /<(?:\w{1,64}:)?(?:urlset|sitemapindex)\b/i.test(text);
  return { pages: found, sitemaps, isSitemap };
}

function toFound(url: URL): FoundLink {
  return { url: canonicalUrl(url), gate: gateOf(url) };
}
