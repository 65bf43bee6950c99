/** Reads the entries of a feed: RSS, RDF, Atom or JSON Feed. Pure, for untrusted text. */
import { hash } from 'node:crypto';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { decodeAs } from '../extract/format/text/decode-text.ts';
import {
  attributeOf,
  childOf,
  childrenOf,
  readXml,
  textOf,
  type XmlElement,
} from '../extract/format/xml/xml.ts';
import { canonicalUrl, readUrl } from '../fetch/url.ts';

export interface FeedEntry {
  /** Its address; without one, that of the feed with the id of the entry. */
  readonly key: string;
  /** A page of HTML. */
  readonly bytes: Uint8Array;
}

interface Entry {
  readonly id: string;
  readonly link: string | undefined;
  readonly title: string;
  readonly html: string;
}

export interface FeedText {
  readonly bytes: Uint8Array;
  readonly charset: string;
  /** Where the feed is. */
  readonly address: string;
}

/** Finds the entries of a feed, or throws if it is none. */
export type FeedReader = (feed: FeedText, signal: AbortSignal) => Promise<readonly FeedEntry[]>;

export const feedHere: FeedReader = async ({ bytes, charset, address }) =>
  readFeed(decodeAs(charset, bytes), new URL(address));

/** The result of a thread: a failure would lose its code on the way. */
export type FeedReading = readonly FeedEntry[] | { readonly refusal: string };

export async function feedReadingOf(feed: FeedText, signal: AbortSignal): Promise<FeedReading> {
  try {
    return await feedHere(feed, signal);
  } catch (error) {
    if (error instanceof Failure && error.code === 'bad_response') {
      return { refusal: error.message };
    }
    throw error;
  }
}

/** Each entry once, the first if several have one key. Throws if it is no feed. */
export function readFeed(text: string, feed: URL): FeedEntry[] {
  const entries = text.trimStart().startsWith('{') ? fromJson(text, feed) : fromXml(text, feed);
  const found = new Map<string, FeedEntry>();
  for (const entry of entries.slice(0, limits.sync.feedEntriesMax)) {
    const key = keyOf(entry, feed);
    if (!found.has(key)) found.set(key, { key, bytes: Buffer.from(pageOf(entry)) });
  }
  return [...found.values()];
}

function keyOf({ id, link }: Entry, feed: URL): string {
  const address = link === undefined ? undefined : addressOf(link, feed);
  if (address !== undefined) return address;
  const short = id.length <= 200 ? id : hash('sha256', id);
  return `${canonicalUrl(feed)}#${encodeURIComponent(short)}`;
}

function addressOf(link: string, feed: URL): string | undefined {
  try {
    return canonicalUrl(readUrl(link, feed.href));
  } catch {
    // An id that is no address, or an address that is not read.
    return undefined;
  }
}

function pageOf({ title, html }: Entry): string {
  const name = escaped(title);
  const head = `<head><meta charset="utf-8"><title>${name}</title></head>`;
  const article = `<article><h1>${name}</h1>${html}</article>`;
  return `<!doctype html><html>${head}<body>${article}</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function paragraph(text: string): string {
  return `<p>${escaped(text)}</p>`;
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function fromJson(text: string, feed: URL): Entry[] {
  let read: { readonly version?: unknown; readonly items?: unknown };
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw noFeed(feed, error);
  }
  if (!/jsonfeed\.org/.test(stringOf(read.version)) || !Array.isArray(read.items)) {
    throw noFeed(feed);
  }
  return read.items.flatMap((item: unknown): Entry[] => {
    const fields = (item ?? {}) as Readonly<Record<string, unknown>>;
    const link = stringOf(fields.url) || stringOf(fields.external_url) || undefined;
    const id = String(fields.id ?? link ?? '');
    const plain = stringOf(fields.content_text) || stringOf(fields.summary);
    const html = stringOf(fields.content_html) || paragraph(plain);
    return id === '' ? [] : [{ id, link, title: stringOf(fields.title), html }];
  });
}

function fromXml(text: string, feed: URL): Entry[] {
  let root: XmlElement | undefined;
  try {
    [root] = childrenOf(readXml(text));
  } catch (error) {
    throw noFeed(feed, error);
  }
  if (root?.name === 'feed') {
    const base = baseOf(root, feed.href);
    return childrenOf(root, 'entry').map((entry) => fromAtom(entry, base));
  }
  const channel = root && childOf(root, 'channel');
  if (root?.name === 'rss' && channel) return childrenOf(channel, 'item').map(fromRss);
  if (root?.name === 'RDF') return childrenOf(root, 'item').map(fromRss);
  throw noFeed(feed);
}

function fromRss(item: XmlElement): Entry {
  const text = (name: string): string => {
    const child = childOf(item, name);
    return child ? textOf(child).trim() : '';
  };
  const guid = childOf(item, 'guid');
  const isPermanent = guid && attributeOf(guid, 'isPermaLink') !== 'false';
  const link = text('link') || (isPermanent ? text('guid') : '') || undefined;
  const html = text('encoded') || text('description');
  const id = text('guid') || link || hash('sha256', `${text('title')}\0${html}`);
  return { id, link, title: text('title'), html };
}

/** The address that links in an element are relative to: `xml:base`, inherited and nested. */
function baseOf(element: XmlElement, outer: string): string {
  const own = attributeOf(element, 'xml:base');
  return own !== undefined && URL.canParse(own, outer) ? new URL(own, outer).href : outer;
}

function fromAtom(entry: XmlElement, feedBase: string): Entry {
  const text = (name: string): string => {
    const child = childOf(entry, name);
    return child ? textOf(child).trim() : '';
  };
  const links = childrenOf(entry, 'link');
  const alternate = links.find((each) => (attributeOf(each, 'rel') ?? 'alternate') === 'alternate');
  const href = alternate && attributeOf(alternate, 'href');
  const base = alternate && baseOf(alternate, baseOf(entry, feedBase));
  const link = href && URL.canParse(href, base) ? new URL(href, base).href : href;
  const body = childOf(entry, 'content') ?? childOf(entry, 'summary');
  const html = body ? bodyOf(body) : '';
  const id = text('id') || link || hash('sha256', `${text('title')}\0${html}`);
  return { id, link, title: text('title'), html };
}

function bodyOf(body: XmlElement): string {
  const type = attributeOf(body, 'type');
  if (type === 'xhtml') return markupOf(body);
  const content = textOf(body).trim();
  return type === 'html' ? content : paragraph(content);
}

/** Elements without their attributes: they separate paragraphs, and words. */
function markupOf({ children }: XmlElement): string {
  return children
    .map((child) =>
      typeof child === 'string'
        ? escaped(child)
        : `<${child.name}>${markupOf(child)}</${child.name}>`,
    )
    .join('');
}

function noFeed(feed: URL, cause?: unknown): Failure {
  const message = `${feed.href} is no feed: RSS, Atom and JSON Feed are read`;
  return new Failure('bad_response', message, { cause });
}
