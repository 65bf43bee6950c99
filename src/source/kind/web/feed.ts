/**
 * A feed as a source: its entries are documents. A feed shows only its newest entries, so those
 * that leave it stay. An unchanged feed costs one conditional request.
 */
import { hash } from 'node:crypto';
import {
  compareKeys,
  type FollowedPlace,
  type ListedPage,
  type ListFrom,
  type SourceKind,
} from '../../../engine/sync/source-kind.ts';
import type { FeedEntry } from '../../../pipeline/crawl/feed-text.ts';
import { charsetOfAnswer } from '../../../pipeline/extract/format/text/decode-text.ts';
import { readUrl } from '../../../pipeline/fetch/url.ts';
import { urlSource } from '../../sources.ts';
import { wantedBy } from '../wanted.ts';
import { pagesOf, sorted } from './listing.ts';
import { PageReader, type WebTools } from './page-reader.ts';
import { stampFrom, stampText, validatorsIn } from './page-stamp.ts';

const accept =
  'application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, ' +
  'application/json;q=0.9, */*;q=0.1';

export function feedKind(tools: WebTools): SourceKind {
  return {
    name: 'feed',
    removal: 'gone',
    check: async ({ location }) => urlSource(location).source,
    list: (place, from) => list(tools, place, from),
    read: async (place, key, { signal }) => {
      const found = await entriesOf(tools, place, { signal });
      return found?.entries.find((entry) => entry.key === key)?.bytes;
    },
    hasPages: true,
    sourceOf: (_place, key) => ({ kind: 'upload', source: key }),
  };
}

async function* list(
  tools: WebTools,
  place: FollowedPlace,
  { after, signal, cursor }: ListFrom,
): AsyncGenerator<ListedPage> {
  // A run that was interrupted needs the entries again.
  const found = await entriesOf(tools, place, { signal, cursor: after === '' ? cursor : null });
  if (!found) return;
  const isWanted = wantedBy(place);
  const rows = sorted(found.entries, ({ key }) => key)
    .filter(({ key }) => compareKeys(key, after) > 0 && isWanted(key))
    .map(({ key, bytes }) => {
      const stamp = hash('sha256', bytes).slice(0, 32);
      return { key, entry: { key, stamp, size: bytes.length, bytes } };
    });
  yield* pagesOf(rows);
  yield { entries: [], problems: [], cursor: found.cursor };
}

interface FoundEntries {
  readonly entries: readonly FeedEntry[];
  readonly cursor: string | undefined;
}

/** Undefined: the feed has not changed. */
async function entriesOf(
  tools: WebTools,
  { location }: FollowedPlace,
  { signal, cursor = null }: { readonly signal: AbortSignal; readonly cursor?: string | null },
): Promise<FoundEntries | undefined> {
  const reader = new PageReader(tools, signal);
  const validators = validatorsIn(cursor ?? undefined);
  const answer = await reader.raw(location, { accept, validators });
  if (!answer) return undefined;
  const declared = /charset\s*=\s*"?([\w-]{1,40})/i.exec(answer.headers.get('content-type') ?? '');
  const { bytes } = answer;
  const charset = charsetOfAnswer(bytes, declared?.[1]);
  const entries = await tools.readFeed({ bytes, charset, address: readUrl(location).href }, signal);
  return { entries, cursor: stampText(stampFrom(answer)) ?? undefined };
}
