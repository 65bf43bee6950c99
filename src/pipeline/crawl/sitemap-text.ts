/** Parses a sitemap, as XML or as lines of text. */
import { limits } from '../../kernel/limits/limits.ts';

export interface Sitemap {
  readonly pages: readonly string[];
  /** Other sitemaps, if it is an index. */
  readonly sitemaps: readonly string[];
  /** The `lastmod` of pages that have one. */
  readonly modified: ReadonlyMap<string, string>;
}

const space = /\s/;
const cdata = '<![CDATA[';

/** Reads only `<loc>`, so there is no entity to expand and no nesting. */
export function parseSitemap(text: string): Sitemap {
  const isIndex = /<(?:[\w-]{1,64}:)?sitemapindex\b/i.test(text.slice(0, 4096));
  const found: string[] = [];
  const modified = new Map<string, string>();
  for (const { place, date } of text.trimStart().startsWith('<') ? placesIn(text) : linesIn(text)) {
    const url = place.replaceAll('&amp;', '&').replaceAll('&apos;', "'").replaceAll('&quot;', '"');
    found.push(url);
    if (date !== undefined) modified.set(url, date);
    if (found.length >= limits.job.crawlPagesMax) break;
  }
  return isIndex
    ? { pages: [], sitemaps: found, modified }
    : { pages: found, sitemaps: [], modified };
}

/** Reads each character once: an expression would try each space as the end of a run. */
interface Place {
  readonly place: string;
  readonly date?: string | undefined;
}

function* placesIn(text: string): Generator<Place> {
  const opening = /<(?:[\w-]{1,64}:)?loc>/gi;
  while (opening.test(text)) {
    let start = afterSpace(text, opening.lastIndex);
    if (text.startsWith(cdata, start)) start = afterSpace(text, start + cdata.length);
    const end = endOfPlace(text, start);
    if (end > start) yield { place: text.slice(start, end), date: dateAfter(text, end) };
    opening.lastIndex = end;
  }
}

/** The `lastmod` of the same page; it follows within a few elements, if there is one. */
function dateAfter(text: string, end: number): string | undefined {
  const [near = ''] = text
    .slice(end, end + 500)
    .split(/<(?:[\w-]{1,64}:)?loc>|<\/(?:[\w-]{1,64}:)?url>/i);
  return /<(?:[\w-]{1,64}:)?lastmod>\s{0,50}([\w:.+-]{1,50})/i.exec(near)?.[1];
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && space.test(text[at] as string)) at += 1;
  return at;
}

function endOfPlace(text: string, start: number): number {
  const last = Math.min(text.length, start + limits.fetch.urlCharactersMax);
  let at = start;
  while (at < last && !/[<\]\s]/.test(text[at] as string)) at += 1;
  return at;
}

function* linesIn(text: string): Generator<Place> {
  for (const line of text.split('\n')) {
    const place = line.trim();
    const isPlace = /^https?:\/\//i.test(place) && !space.test(place);
    if (isPlace && place.length <= limits.fetch.urlCharactersMax) yield { place };
  }
}
