/** JSON-LD: the page's declaration of its article. Untrusted, so everything is bounded. */
import type { TreeDocument } from '../tree/document.ts';

export interface Declaration {
  headline: string | undefined;
  author: string | undefined;
  published: string | undefined;
  site: string | undefined;
  type: string | undefined;
  body: string;
}

const scriptsMax = 20;
const scriptCharactersMax = 1_000_000;
const bodyCharactersMax = 100_000;
const depthMax = 6;
const entriesMax = 100;

const articleType = /Article|BlogPosting|NewsItem|Report|SocialMediaPosting|WebPage|Recipe|Product/;

export function readDeclaration(document: TreeDocument): Declaration {
  const found: Declaration = {
    headline: undefined,
    author: undefined,
    published: undefined,
    site: undefined,
    type: undefined,
    body: '',
  };
  let scripts = 0;
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    scripts += 1;
    const text = script.textContent;
    if (scripts > scriptsMax || text.length > scriptCharactersMax) break;
    visit(parse(text), found, 0);
  }
  return found;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function visit(value: unknown, found: Declaration, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > depthMax) return;
  const entries = Array.isArray(value) ? value : Object.values(value);
  if (!Array.isArray(value)) read(value as Record<string, unknown>, found);
  for (const entry of entries.slice(0, entriesMax)) visit(entry, found, depth + 1);
}

function read(thing: Record<string, unknown>, found: Declaration): void {
  const type = textOf(Array.isArray(thing['@type']) ? thing['@type'][0] : thing['@type']);
  const body = textOf(thing.articleBody) ?? '';
  if (body.length > found.body.length) {
    found.body = body.slice(0, bodyCharactersMax).replace(/<[^<>]{0,2000}>/g, ' ');
  }
  if (type === undefined || !articleType.test(type)) return;
  found.type ??= type;
  found.headline ??= textOf(thing.headline);
  found.author ??= nameOf(thing.author);
  found.published ??= textOf(thing.datePublished);
  found.site ??= nameOf(thing.publisher);
}

function nameOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const names = value
      .slice(0, 10)
      .map(nameOf)
      .filter((name) => name !== undefined);
    return names.length === 0 ? undefined : names.join(', ');
  }
  if (typeof value === 'object' && value !== null) {
    return textOf((value as Record<string, unknown>).name);
  }
  return textOf(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
