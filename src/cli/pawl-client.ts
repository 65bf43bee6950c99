/** The interface that commands use. The local store and a remote service both implement it. */
import type { DocumentEntity, Job, Pawl, Spending } from '../index.ts';
import type { DocumentRow, ListedDocument } from '../store/document/documents.ts';
import type { ItemRow } from '../store/item/items.ts';

export type JobClient = Pick<
  Job,
  | ('id' | 'corpus' | 'isResumed' | 'events' | 'history' | 'summary' | 'counts' | 'unchanged')
  | ('partlyRead' | 'causes' | 'pause' | 'resume' | 'retry')
> & { cancel(): Promise<Pick<Awaited<ReturnType<Job['cancel']>>, CancelPart>> };

type CancelPart = 'itemsCanceled' | 'itemsDone' | 'itemsFailed';

export type ItemOf = Pick<
  ItemRow,
  | ('id' | 'corpus' | 'document_id' | 'source' | 'step' | 'waits_on' | 'attempt' | 'error')
  | ('failed_at' | 'created_at' | 'moved_at')
> & { readonly job_id: number | string };

export type DocumentOf = Pick<
  DocumentRow,
  | ('id' | 'corpus' | 'source' | 'title' | 'generation' | 'content_hash' | 'chunk_count')
  | ('text_bytes' | 'kept_share' | 'created_at' | 'updated_at')
> & {
  /** A service sends only the warnings from it. */
  readonly meta?: ListedDocument['meta'];
  readonly warnings?: readonly string[];
};

export type EntityOf = Omit<DocumentEntity, 'ordinal'>;

type Same = Pick<
  Pawl,
  | (
      | 'jobs'
      | 'corpora'
      | 'corpus'
      | 'deleteCorpus'
      | 'causes'
      | 'retryItems'
      | 'discardItems'
      | 'search'
    )
  | ('newestEvent' | 'work' | 'isWorkedOn' | 'why')
  | ('origins' | 'acceptOrigins' | 'setCorpusBudget' | 'entities' | 'related')
  | ('shares' | 'share' | 'unshare' | 'callers')
>;

export interface PawlClient extends Same {
  job(id: string): Promise<JobClient>;
  jobOf(item: ItemOf): Promise<JobClient>;
  submit(...args: Parameters<Pawl['submit']>): Promise<JobClient>;
  documents(...args: Parameters<Pawl['documents']>): Promise<DocumentOf[]>;
  inbox(...args: Parameters<Pawl['inbox']>): Promise<ItemOf[]>;
  item(id: number): Promise<ItemOf>;
  spending(corpus: string): Promise<Spending>;
  reembed(...args: Parameters<Pawl['reembed']>): Promise<JobClient | undefined>;
  documentEntities(...args: Parameters<Pawl['documentEntities']>): Promise<EntityOf[]>;
}
