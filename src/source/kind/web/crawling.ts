/** One crawl of a site for its listing: breadth first, from its first page and its sitemaps. */
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import { readSitemaps } from '../../../pipeline/crawl/sitemap.ts';
import { canonicalUrl, gateOf } from '../../../pipeline/fetch/url.ts';
import type { Crawl } from '../../../store/crawl/crawls.ts';
import type { Row } from './listing.ts';
import type { PageReader, ReadPage, WebTools } from './page-reader.ts';
import { stampText, validatorsIn } from './page-stamp.ts';

export interface CrawlingOptions {
  readonly reader: PageReader;
  readonly tools: Pick<WebTools, 'fetcher' | 'finder'>;
  readonly signal: AbortSignal;
  readonly stamps: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

export class Crawling {
  readonly #options: CrawlingOptions;
  readonly #seen = new Set<string>();
  #heldBytes = 0;
  /** There are more pages than the crawl may have. */
  isCut = false;

  constructor(options: CrawlingOptions) {
    this.#options = options;
  }

  async run(root: string, given: Crawl): Promise<Row[]> {
    const rows: Row[] = [];
    let crawl = given;
    let level = [root];
    this.#seen.add(root);
    for (let depth = 0; level.length > 0; depth += 1) {
      const found: string[] = [];
      const known = await this.#options.stamps(level);
      for (const key of level) {
        const { row, links, url } = await this.#visit(key, known.get(key), crawl);
        if (depth === 0) {
          if (row && 'failure' in row) throw row.failure;
          if (row && 'isGone' in row) throw missing(root);
          if (url) crawl = { ...crawl, site: gateOf(url) };
          if (url) found.push(...(await this.#namedBy(url, crawl)));
        }
        if (row) rows.push(row);
        found.push(...links);
      }
      level = depth < crawl.depthMax ? await this.#next(found, crawl) : [];
    }
    return rows;
  }

  /** Pages that are new, allowed, and within the limit. */
  async #next(found: readonly string[], { pagesMax }: Crawl): Promise<string[]> {
    const fresh = [...new Set(found)].filter((url) => !this.#seen.has(url));
    const allowed = await this.#options.reader.robots.allowedOf(fresh.map((url) => ({ url })));
    const room = pagesMax - this.#seen.size;
    if (allowed.length > room) this.isCut = true;
    const level = allowed.slice(0, Math.max(room, 0)).map(({ url }) => url);
    for (const url of level) this.#seen.add(url);
    return level;
  }

  async #visit(key: string, stamp: string | undefined, crawl: Crawl) {
    const found = await this.#options.reader.read(key, stamp);
    if (found.is === 'gone') return { row: { key, isGone: true } as const, links: [] };
    if (found.is === 'skipped') return { row: undefined, links: [] };
    if (found.is === 'failed') return { row: { key, failure: found.failure }, links: [] };
    if (found.is === 'same') {
      const { links = [], url = key } = validatorsIn(stamp) ?? {};
      return {
        row: { key, entry: { key, stamp: stamp ?? null, size: null } },
        links,
        url: new URL(url),
      };
    }
    return this.#taken(key, found, crawl);
  }

  async #taken(key: string, { html, url, bytes, stamp }: ReadPage, given: Crawl) {
    const final = canonicalUrl(url);
    // The first page may lead to another domain, such as that with `www`.
    const crawl = this.#seen.size === 1 ? { ...given, site: gateOf(url) } : given;
    // Another page of the crawl is the same document: it is listed under its own address.
    if (final !== key && this.#seen.has(final)) return { row: undefined, links: [], url };
    this.#seen.add(final);
    const links = html === undefined ? [] : await this.#linksIn(html, url, crawl);
    const isFew = links.length <= limits.sync.linksMax;
    const own = stamp && isFew ? stampText({ ...stamp, links }) : null;
    const entry = { key, stamp: own, size: bytes.length, ...this.#kept(bytes) };
    return { row: { key, entry }, links, url };
  }

  async #linksIn(html: string, { href: page }: URL, crawl: Crawl): Promise<string[]> {
    const { tools, signal } = this.#options;
    const { site, include, exclude } = crawl;
    const links = await tools.finder.links(html, { page, site, include, exclude }, signal);
    return links.map(({ url }) => url);
  }

  /** What the crawl cannot hold in memory is read again when it is submitted. */
  #kept(bytes: Uint8Array): { readonly bytes?: Uint8Array } {
    if (this.#heldBytes + bytes.length > limits.sync.heldBytesMax) return {};
    this.#heldBytes += bytes.length;
    return { bytes };
  }

  async #namedBy(root: URL, crawl: Crawl): Promise<string[]> {
    const { reader, tools, signal } = this.#options;
    const { pagesMax, site, include, exclude } = crawl;
    const scope = { page: root.href, site, include, exclude };
    const { fetcher, finder } = tools;
    const reading = { fetcher, finder, signal, scope, root, pagesMax };
    const pages = await readSitemaps({ ...reading, robots: reader.robots });
    return pages.map(({ url }) => url);
  }
}

function missing(root: string): Failure {
  return new Failure('source_missing', `the first page ${root} is gone`);
}
