/** The kind that a location shows clearly, so that nobody has to name it. */
import { Failure } from '../../kernel/failure/failure.ts';

const rows: readonly [kind: string, pattern: RegExp][] = [
  ['bucket', /^s3:\/\//i],
  ['git', /^(?:ssh|git|git\+ssh):\/\/|^[\w.+-]+@[\w.-]+:|^https?:\/\/.*\.git\/?$/i],
  ['site', /^https?:\/\/.*\/sitemap[^/]*\.xml(?:\.gz)?$/i],
  ['feed', /^https?:\/\/.*(?:\.(?:rss|atom)|\/(?:feed|rss|atom)(?:\.xml|\.json)?\/?)$/i],
  ['urls', /^https?:\/\/\S+[\s,]+https?:\/\//i],
  ['git', /^file:\/\//i],
];

/** Throws if an address may be of several kinds, or is of none. */
export function kindOfLocation(location: string): string {
  const row = rows.find(([, pattern]) => pattern.test(location));
  if (row) return row[0];
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location) ?? [];
  if (scheme === undefined) return 'folder';
  if (/^https?$/i.test(scheme)) {
    const message = `${location} may be a site, a feed, a page (urls) or a repository (git)`;
    throw new Failure('bad_request', `${message}: name its kind, such as --kind site`);
  }
  const message =
    `no source is at a ${scheme}: address; sources are folders, http and https addresses, ` +
    'repositories (git), and buckets (s3)';
  throw new Failure('bad_request', message);
}
