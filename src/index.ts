/** Pawl as a library: open a store, ingest into a corpus, search it. */

import { type AssembledPreview, assemblePreview } from './app/tools.ts';
import { assemble } from './app/wire.ts';
import type { OpenOptions } from './library/options.ts';
import { Pawl } from './library/pawl.ts';

export type { EmbedderSettings } from './app/adapter/models.ts';
export type { CorpusOrigins } from './engine/command/origins.ts';
export type { FollowedPlace, Listed, ListedPage, SourceKind } from './engine/sync/source-kind.ts';
export { Failure, type FailureCode, failures } from './kernel/failure/failure.ts';
export { Job, type JobCounts, type JobSummary } from './library/job-handle.ts';
export type { IngestOptions, OpenOptions, SearchOptions } from './library/options.ts';
export type { Spending } from './library/own-corpora.ts';
export { Pawl } from './library/pawl.ts';
export type { Event, EventKind } from './observe/event.ts';
export type { Estimate } from './pipeline/estimate/estimate.ts';
export type { Range as EstimateRange } from './pipeline/estimate/range.ts';
export type {
  BatchJobRef,
  BatchProvider,
  BatchRequest,
  NewBatchJob,
  PollAnswer,
  ResultLine,
  SubmitContext,
} from './provider/batch/batch-provider.ts';
export type { SearchFilter, SearchMode } from './search/request.ts';
export type { Explanation, Hit } from './search/search.ts';
export type { CrawlInput, InlineDocument, SourceInput } from './source/sources.ts';
export type { BatchTaskRow } from './store/batch/tasks.ts';
export type { CorpusRow, DocumentRow, ListedDocument } from './store/document/documents.ts';
export type { DocumentEntity, EntityRow, RelatedRow } from './store/document/entities.ts';
export type { CauseRow } from './store/item/inbox.ts';
export type { ItemRow } from './store/item/items.ts';
export type { JobCounters } from './store/job/counters.ts';

/** Opens a store, creates it if it is missing, and resumes its unfinished work. */
export async function open(options: OpenOptions = {}): Promise<Pawl> {
  const pawl = new Pawl(await assemble(options));
  if (options.work ?? true) await pawl.work();
  return pawl;
}

/** Opens a preview of what would be indexed, without a store. It leaves nothing behind. */
export function openPreview(
  options: Pick<OpenOptions, 'allowHosts' | 'browser' | 'render' | 'world'> = {},
): AssembledPreview {
  return assemblePreview(options);
}
