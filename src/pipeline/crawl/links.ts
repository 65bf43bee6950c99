/**
 * The links of a page, in one pass over its tags, unless the page or the link says nofollow. No
 * tree is built, so nesting costs nothing.
 */
import { limits } from '../../kernel/limits/limits.ts';

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

export function linksOf(html: string, page: URL): URL[] {
  const links = new Map<string, URL>();
  let parent = page.href;
  for (const { name, attributes } of tagsOf(html)) {
    const href = decodeEntities(attributes.get('href')?.trim() ?? '');
    if (name === 'meta') {
      if (isNofollow(attributes)) return [];
    } else if (name === 'base') {
      if (URL.canParse(href, page.href)) parent = new URL(href, page.href).href;
    } else if (href !== '' && !/\bnofollow\b/i.test(attributes.get('rel') ?? '')) {
      const url = readLink(href, parent);
      if (url) links.set(url.href, url);
    }
    if (links.size >= limits.job.crawlLinksPerPageMax) break;
  }
  return [...links.values()];
}

const wanted = ['a', 'area', 'base', 'meta'];
/** Their content is not visible. */
const skipped = ['script', 'style'];
/** Only so much of a tag is read: a longer one has no useful link. */
const tagCharactersMax = 4096;

/** Nothing is searched for twice, so time is linear even for a hostile page. */
function* tagsOf(html: string): Generator<Tag> {
  const lower = html.toLowerCase();
  for (let at = 0; ; ) {
    const start = html.indexOf('<', at);
    if (start < 0) return;
    const isComment = html.startsWith('<!--', start);
    const end = html.indexOf(isComment ? '-->' : '>', start + 1);
    if (end < 0) return;
    const name = /^[a-z]*/.exec(lower.slice(start + 1, start + 10))?.[0] ?? '';
    // A bare `<` in text is not a tag.
    at = isComment || /[a-z/!?]/.test(lower[start + 1] ?? '') ? end + 1 : start + 1;
    if (skipped.includes(name)) {
      at = lower.indexOf(`</${name}`, end);
      if (at < 0) return;
    } else if (wanted.includes(name)) {
      const text = html.slice(start + 1 + name.length, Math.min(end, start + tagCharactersMax));
      yield { name, attributes: attributesOf(text) };
    }
  }
}

/** A name takes all of its letters at once, with its value or without. */
const attribute = /([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single, bare] of text.matchAll(attribute)) {
    const key = name.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? bare ?? '');
  }
  return attributes;
}

function isNofollow(attributes: ReadonlyMap<string, string>): boolean {
  const isForUs = /^(?:robots|pawlbot)$/i.test(attributes.get('name') ?? '');
  return isForUs && /\b(?:nofollow|none)\b/i.test(attributes.get('content') ?? '');
}

function readLink(href: string, parent: string): URL | undefined {
  if (href.length > limits.fetch.urlCharactersMax || !URL.canParse(href, parent)) return undefined;
  const url = new URL(href, parent);
  url.hash = '';
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  return isWeb && url.username === '' && url.password === '' ? url : undefined;
}

const entities: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|quot|apos));/gi, (whole, ...found) => {
    const [decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
