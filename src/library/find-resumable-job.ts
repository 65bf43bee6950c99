/** Finds the unfinished job that a submission would repeat. */

import { limits } from '../kernel/limits/limits.ts';
import { metadataText } from '../kernel/metadata/metadata.ts';
import { placeOf } from '../kernel/name/corpus-name.ts';
import { isChangedSince } from '../source/sources.ts';
import { documentIdsOf } from '../store/document/names.ts';
import type { Database } from '../store/driver/database.ts';
import { listOpenJobs } from '../store/item/inbox.ts';
import { type ItemRow, listItems } from '../store/item/items.ts';
import { findOpenCrawl, type JobRow } from '../store/job/jobs.ts';
import type { NewSource } from '../store/job/submit.ts';

export interface WantedJob {
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  readonly isCrawl: boolean;
  readonly force: boolean;
}

/** A crawl is the same job until it ends, regardless of its progress. */
export function findUnfinished(store: Database, wanted: WantedJob): Promise<JobRow | undefined> {
  const { caller, corpus, sources, isCrawl } = wanted;
  if (!isCrawl) return findSame(store, wanted);
  const [root] = sources;
  return findSameCrawl(store, { caller, corpus, root });
}

/** With other metadata it is another crawl. */
async function findSameCrawl(
  store: Database,
  { caller, corpus, root }: Pick<WantedJob, 'caller' | 'corpus'> & { root: NewSource | undefined },
): Promise<JobRow | undefined> {
  const job = await findOpenCrawl(store, { caller, corpus, url: root?.source ?? '' });
  const [start] = job ? await listItems(store, { jobId: job.id, after: 0, limit: 1 }) : [];
  return (start?.metadata ?? null) === metadataText(root?.metadata) ? job : undefined;
}

/**
 * An unfinished job of exactly these documents, with the same metadata. A file that was written
 * after the job was submitted may already have been read: then a new job is needed to index the new
 * text.
 */
async function findSame(
  store: Database,
  { caller, corpus, sources, force }: WantedJob,
): Promise<JobRow | undefined> {
  if (sources.some(({ kind }) => kind === 'inline')) return undefined;
  const place = placeOf({ caller, corpus });
  const names = sources.map(({ source }) => source);
  const documentIds = await documentIdsOf(store, place, names);
  const ids = new Map(
    sources.map(({ metadata }, index) => [documentIds[index] as string, metadataText(metadata)]),
  );
  const jobs = await listOpenJobs(store, {
    caller,
    corpus,
    items_total: ids.size,
    force: force ? 1 : 0,
    limit: limits.request.pageItemsDefault,
  });
  for (const job of jobs) {
    if (job.type !== 'ingest' || !(await hasOnly(store, job, ids))) continue;
    return (await isChangedSince(sources, job.created_at)) ? undefined : job;
  }
  return undefined;
}

async function hasOnly(
  store: Database,
  job: JobRow,
  documents: ReadonlyMap<string, string | null>,
): Promise<boolean> {
  const limit = limits.event.pageMax;
  for (let after = 0, isFull = true; isFull; ) {
    const items = await listItems(store, { jobId: job.id, after, limit });
    const isWanted = ({ document_id, metadata }: ItemRow): boolean =>
      documents.get(document_id) === metadata;
    if (!items.every(isWanted)) return false;
    after = items.at(-1)?.id ?? after;
    isFull = items.length === limit;
  }
  return true;
}
