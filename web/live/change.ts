/** Derives from a run of events which queries have changed. */
import type { Event } from '../../src/contract/schema/schema.ts';

export interface Changes {
  isAny: boolean;
  readonly jobs: Set<string>;
  /** Documents that moved, by job. */
  readonly items: Map<string, Set<number>>;
  /** Jobs that received more documents. */
  readonly grown: Set<string>;
  hasNewJobs: boolean;
  inbox: boolean;
  attempt: boolean;
  sources: boolean;
  /** Batch tasks that moved. */
  readonly tasks: Set<string>;
  documents: boolean;
  readonly documentIds: Set<string>;
}

export function noChanges(): Changes {
  return {
    isAny: false,
    jobs: new Set(),
    items: new Map(),
    grown: new Set(),
    hasNewJobs: false,
    inbox: false,
    attempt: false,
    sources: false,
    tasks: new Set(),
    documents: false,
    documentIds: new Set(),
  };
}

const inboxKinds: ReadonlySet<Event['kind']> = new Set([
  'item_failed',
  'item_retried',
  'item_discarded',
  'item_canceled',
  'job_retried',
  'document_deleted',
  'corpus_deleted',
]);

const documentKinds: ReadonlySet<Event['kind']> = new Set([
  'generation_flipped',
  'document_deleted',
  'corpus_deleted',
]);

/** Events of the runs of sources. */
const runKinds: ReadonlySet<Event['kind']> = new Set(['sync_started', 'sync_held', 'sync_ended']);

/** Events after which a job has more items. */
const growthKinds: ReadonlySet<Event['kind']> = new Set([
  'job_accepted',
  'pages_found',
  'attachments_found',
]);

export function noteEvent(changes: Changes, { kind, job_id, item_id, detail }: Event): void {
  changes.isAny = true;
  if (job_id !== null) changes.jobs.add(job_id);
  if (job_id !== null && item_id !== null) noteItem(changes, job_id, item_id);
  if (job_id !== null && growthKinds.has(kind)) changes.grown.add(job_id);
  if (kind === 'job_accepted') changes.hasNewJobs = true;
  if (inboxKinds.has(kind)) changes.inbox = true;
  if (runKinds.has(kind)) changes.sources = true;
  if (typeof detail.task_id === 'string') changes.tasks.add(detail.task_id);
  if (!documentKinds.has(kind)) return;
  changes.documents = true;
  if (typeof detail.document_id === 'string') changes.documentIds.add(detail.document_id);
}

export function noteItem(changes: Changes, jobId: string, itemId: number): void {
  const items = changes.items.get(jobId) ?? new Set();
  changes.items.set(jobId, items.add(itemId));
}
