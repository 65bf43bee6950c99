/** The kinds of sources that Pawl brings, and those that a program adds. */
import { join } from 'node:path';
import type { SourceKind } from '../../engine/sync/source-kind.ts';
import { type BucketKeys, bucketKind } from './bucket.ts';
import { folderKind } from './folder.ts';
import { gitKind } from './git/kind.ts';
import { feedKind } from './web/feed.ts';
import { DomainTurns, type WebTools } from './web/page-reader.ts';
import { siteKind } from './web/site.ts';
import { urlsKind } from './web/urls.ts';

export interface KindTools extends Omit<WebTools, 'turns'> {
  /** The folder of the store: clones of repositories are kept in it. */
  readonly data: string;
  /** The keys for buckets. */
  readonly bucketKeys?: BucketKeys | undefined;
}

/** A kind of a program replaces one of Pawl with the same name. */
export function sourceKinds(
  tools: KindTools,
  more: readonly SourceKind[] = [],
): ReadonlyMap<string, SourceKind> {
  const web = { ...tools, turns: new DomainTurns() };
  const clones = join(tools.data, 'repositories');
  const { world, bucketKeys: keys } = tools;
  const own = [
    folderKind(),
    gitKind({ folder: clones }),
    urlsKind(web),
    siteKind(web),
    feedKind(web),
    bucketKind({ world, keys }),
  ];
  return new Map([...own, ...more].map((kind) => [kind.name, kind]));
}
