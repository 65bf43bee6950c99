/** Decides which addresses belong to a crawl. */
import type { Crawl } from '../../store/crawl/crawls.ts';
import { gateOf } from '../fetch/url.ts';
import { compileGlob } from './glob.ts';

/** Files without searchable text: requesting them would only cost both sides. */
const withoutText = new RegExp(
  `\\.(?:${[
    ...['png', 'jpe?g', 'gif', 'webp', 'avif', 'svg', 'ico', 'bmp', 'tiff?', 'css', 'm?js', 'map'],
    ...['woff2?', 'ttf', 'otf', 'eot', 'mp[34]', 'm4[av]', 'webm', 'og[gv]', 'wav', 'flac', 'avi'],
    ...['mov', 'zip', 'gz', 'bz2', 'xz', '7z', 'rar', 'tar', 'dmg', 'exe', 'msi', 'deb', 'rpm'],
    ...['iso', 'apk', 'jar', 'wasm'],
  ].join('|')})$`,
  'i',
);

export type InScope = (url: URL) => boolean;

export function scopeOf({
  site,
  include,
  exclude,
}: Pick<Crawl, 'site' | 'include' | 'exclude'>): InScope {
  const included = include.map(globOf);
  const excluded = exclude.map(globOf);
  return (url) =>
    gateOf(url) === site &&
    !withoutText.test(url.pathname) &&
    (included.length === 0 || included.some((glob) => glob(url))) &&
    !excluded.some((glob) => glob(url));
}

/**
 * `*` matches within a path segment, `**` anything, `?` one character. A glob with a leading slash
 * matches the path, any other the whole URL.
 */
export function globOf(glob: string): (url: URL) => boolean {
  const matches = compileGlob(glob);
  const isPath = glob.startsWith('/');
  return ({ href, pathname, search }) =>
    matches(isPath ? pathname : href) || (isPath && matches(`${pathname}${search}`));
}
