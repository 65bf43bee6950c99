/** The metadata of a page: meta elements, JSON-LD, times and links. */

import { plain } from '../article/prose.ts';
import type { TreeDocument } from '../tree/document.ts';
import { readDeclaration } from './json-ld.ts';

export interface Metadata {
  readonly title: string | undefined;
  readonly author: string | undefined;
  readonly published: string | undefined;
  readonly canonical: string | undefined;
  readonly language: string | undefined;
  readonly description: string | undefined;
  readonly site: string | undefined;
  readonly type: string | undefined;
  /** Each form in which the title may occur in the text. */
  readonly titles: readonly string[];
  /** The article's text, as given in JSON-LD. */
  readonly declared: string;
}

const metaElementsMax = 500;
const valueCharactersMax = 1000;

/** The names of each field, the most reliable first. */
const names = {
  title: ['og:title', 'twitter:title', 'headline', 'dc.title', 'title'],
  author: ['author', 'article:author', 'dc.creator', 'parsely-author', 'sailthru.author'],
  published: [
    'article:published_time',
    'datepublished',
    'dc.date',
    'date',
    'pubdate',
    'og:pubdate',
  ],
  description: ['og:description', 'description', 'twitter:description'],
  site: ['og:site_name', 'application-name'],
  type: ['og:type'],
  language: ['og:locale', 'content-language', 'dc.language'],
} as const;

export interface Hint {
  readonly url: string | undefined;
  /** The main heading of the page's text. */
  readonly heading: string | undefined;
}

export function readMetadata(document: TreeDocument, { url, heading: own }: Hint): Metadata {
  const metas = readMetas(document);
  const find = (field: keyof typeof names) => firstOf(names[field].map((name) => metas.get(name)));
  const declared = readDeclaration(document);
  const tabTitle = tidy(document.querySelector('title')?.textContent);
  const site = firstOf([find('site'), declared.site]);
  const heading =
    tidy(own) ?? tidy(document.querySelector('h1')?.textContent?.replace(/[¶§#]\s*$/, ''));
  const shortTitle = tabTitle === undefined ? undefined : withoutSite(tabTitle, heading);
  const named = firstOf([find('title'), declared.headline, shortTitle, heading]);
  const title = named === site ? (heading ?? named) : named;
  return {
    title,
    author: authorOf([declared.author, find('author')]),
    published: firstOf([
      isoDate(declared.published),
      isoDate(find('published')),
      isoDate(document.querySelector('time[datetime]')?.getAttribute('datetime') ?? undefined),
    ]),
    canonical: canonicalOf(document, url),
    language: firstOf([
      tidy(document.documentElement?.getAttribute('lang')),
      tidy(document.documentElement?.getAttribute('xml:lang')),
      find('language'),
    ]),
    description: find('description'),
    site,
    type: firstOf([declared.type, find('type')]),
    titles: [title, declared.headline, shortTitle, tabTitle].filter((text) => text !== undefined),
    declared: declared.body,
  };
}

function readMetas(document: TreeDocument): Map<string, string> {
  const metas = new Map<string, string>();
  let count = 0;
  for (const meta of document.querySelectorAll('meta')) {
    count += 1;
    if (count > metaElementsMax) break;
    const name =
      meta.getAttribute('property') ??
      meta.getAttribute('name') ??
      meta.getAttribute('itemprop') ??
      meta.getAttribute('http-equiv');
    const value = tidy(meta.getAttribute('content'));
    const key = name?.toLowerCase();
    if (key !== undefined && value !== undefined && !metas.has(key)) metas.set(key, value);
  }
  return metas;
}

function tidy(text: string | null | undefined): string | undefined {
  const tidied = text?.slice(0, valueCharactersMax).replace(/\s+/g, ' ').trim();
  return tidied === '' ? undefined : tidied;
}

function firstOf<Value>(values: readonly (Value | undefined)[]): Value | undefined {
  return values.find((value) => value !== undefined);
}

/** A tab title often starts or ends with the site's name; the page's heading does not. */
function withoutSite(title: string, heading: string | undefined): string {
  const parts = title.replace(/\s+/g, ' ').split(/ [|–—·»:-] /);
  if (heading !== undefined) {
    if (parts.some((part) => plain(part) === plain(heading))) return heading;
    if (isSetOff(heading, title) || (heading.length > 10 && title.includes(heading)))
      return heading;
  }
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return longest.split(' ').length >= 3 ? longest : title;
}

/** A URL is the author's page, not a name. */
function authorOf(candidates: readonly (string | undefined)[]): string | undefined {
  const author = candidates.find((text) => text !== undefined && !/^https?:|@/.test(text));
  return author?.replace(/^(?:by|von|par|por|di|client)\s+/i, '');
}

function isoDate(text: string | undefined): string | undefined {
  const date = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : new Date(date).toISOString();
}

function canonicalOf(document: TreeDocument, url: string | undefined): string | undefined {
  const link = document.querySelector('link[rel="canonical"]')?.getAttribute('href');
  const address =
    link ?? document.querySelector('meta[property="og:url"]')?.getAttribute('content');
  if (address === null || address === undefined || !URL.canParse(address, url)) return undefined;
  const resolved = new URL(address, url);
  return resolved.protocol.startsWith('http') ? resolved.href : undefined;
}

/** Whether the title starts or ends with the heading, with a separator in between. */
function isSetOff(heading: string, title: string): boolean {
  if (title.startsWith(heading))
    return /^\s*([^\p{L}\p{N}\s]|$)/u.test(title.slice(heading.length));
  return title.endsWith(heading) && /[^\p{L}\p{N}\s]\s*$/u.test(title.slice(0, -heading.length));
}
