/** Which keys the globs of a source choose. */
import type { FollowedPlace } from '../../engine/sync/source-kind.ts';
import { compileGlob } from '../../pipeline/crawl/glob.ts';

export function wantedBy({ options }: FollowedPlace): (key: string) => boolean {
  const include = (options.include ?? []).map(compileGlob);
  const exclude = (options.exclude ?? []).map(compileGlob);
  if (include.length + exclude.length === 0) return () => true;
  return (key) =>
    (include.length === 0 || include.some((matches) => matches(key))) &&
    !exclude.some((matches) => matches(key));
}
