/** Parses a sitemap, as XML or as lines of text. */
import { limits } from '../../kernel/limits/limits.ts';

export interface Sitemap {
  readonly pages: readonly string[];
  /** Other sitemaps, if it is an index. */
  readonly sitemaps: readonly string[];
}

const space = /\s/;
const cdata = '<![CDATA[';

/** Reads only `<loc>`, so there is no entity to expand and no nesting. */
export function parseSitemap(text: string): Sitemap {
  const isIndex = /<(?:[\w-]{1,64}:)?sitemapindex\b/i.test(text.slice(0, 4096));
  const found: string[] = [];
  for (const place of text.trimStart().startsWith('<') ? placesIn(text) : linesIn(text)) {
    found.push(place.replaceAll('&amp;', '&').replaceAll('&apos;', "'").replaceAll('&quot;', '"'));
    if (found.length >= limits.job.crawlPagesMax) break;
  }
  return isIndex ? { pages: [], sitemaps: found } : { pages: found, sitemaps: [] };
}

/** Reads each character once: an expression would try each space as the end of a run. */
function* placesIn(text: string): Generator<string> {
  const opening = /<(?:[\w-]{1,64}:)?loc>/gi;
  while (opening.test(text)) {
    let start = afterSpace(text, opening.lastIndex);
    if (text.startsWith(cdata, start)) start = afterSpace(text, start + cdata.length);
    const end = endOfPlace(text, start);
    if (end > start) yield text.slice(start, end);
    opening.lastIndex = end;
  }
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

function* linesIn(text: string): Generator<string> {
  for (const line of text.split('\n')) {
    const place = line.trim();
    const isPlace = /^https?:\/\//i.test(place) && !space.test(place);
    if (isPlace && place.length <= limits.fetch.urlCharactersMax) yield place;
  }
}
