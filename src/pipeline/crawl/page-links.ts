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

export interface FoundLinks {
  readonly pages: readonly FoundLink[];
  /** Other sitemaps. */
  readonly sitemaps: readonly string[];
}

/** Finds pages in texts: in this thread, or in others if a text is long. */
export interface LinkFinder {
  readonly links: (
    html: string,
    scope: PageScope,
    signal: AbortSignal,
  ) => Promise<readonly FoundLink[]>;
  readonly sitemap: (text: string, scope: PageScope, signal: AbortSignal) => Promise<FoundLinks>;
}

export const linksHere: LinkFinder = {
  links: async (html, scope) => linksIn(html, scope),
  sitemap: async (text, scope) => sitemapIn(text, scope),
};

export function linksIn(html: string, scope: PageScope): FoundLink[] {
  return linksOf(html, new URL(scope.page)).filter(scopeOf(scope)).map(toFound);
}

export function sitemapIn(text: string, scope: PageScope): FoundLinks {
  const { pages, sitemaps } = parseSitemap(text);
  const isInScope = scopeOf(scope);
  const found = pages.flatMap((page) => {
    if (!URL.canParse(page)) return [];
    const url = new URL(page);
    return isInScope(url) ? [toFound(url)] : [];
  });
  return { pages: found, sitemaps };
}

function toFound(url: URL): FoundLink {
  return { url: canonicalUrl(url), gate: gateOf(url) };
}
