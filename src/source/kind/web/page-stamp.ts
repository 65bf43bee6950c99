/** The stamp of a page: its validators, and for a crawl its links, which a 304 does not repeat. */
import type { Validators } from '../../../pipeline/fetch/http/http.ts';
import type { FetchResponse } from '../../../pipeline/fetch/verdict.ts';

export interface PageStamp extends Validators {
  readonly links?: readonly string[] | undefined;
}

/** Undefined: the site gave nothing to compare. */
export function stampFrom({ url, headers }: FetchResponse): PageStamp | undefined {
  const etag = headers.get('etag') ?? null;
  const lastModified = headers.get('last-modified') ?? null;
  return etag === null && lastModified === null ? undefined : { url: url.href, etag, lastModified };
}

export function stampText(stamp: PageStamp | undefined): string | null {
  return stamp ? JSON.stringify(stamp) : null;
}

/** What was stored before; undefined if it has no validators. */
export function validatorsIn(stamp: string | undefined): PageStamp | undefined {
  if (stamp === undefined || !stamp.startsWith('{')) return undefined;
  const { url, etag = null, lastModified = null, links } = JSON.parse(stamp) as Partial<PageStamp>;
  if (url === undefined || (etag === null && lastModified === null)) return undefined;
  return { url, etag, lastModified, ...(links && { links }) };
}
