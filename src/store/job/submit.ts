/** Accepting a job: the job, its items in fair order, their inputs and the event, in one commit. */

import { assignRanks } from '../../kernel/fairness.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Metadata, metadataText } from '../../kernel/metadata/metadata.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { type Crawl, insertCrawl } from '../crawl/crawls.ts';
import { appendEvents } from '../delivery/events.ts';
import { ensureCorpus } from '../document/documents.ts';
import { documentIdsOf } from '../document/names.ts';
import type { Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';
import { admitAtGates } from '../item/gates.ts';
import { type InputRow, insertInputs } from '../item/items.ts';
import { insertItems } from '../item/moves.ts';
import { virtualTime } from '../item/workers.ts';
import { type IdempotentRequest, takeKey } from './idempotency.ts';
import { insertJob, type NewJob, type Submitter } from './moves.ts';

export interface NewSource {
  readonly kind: 'file' | 'url' | 'inline' | 'upload' | 'attachment' | 'reembed' | 'rechunk';
  /** The path, the URL, or the name of the inline document, the upload or the attachment. */
  readonly source: string;
  /** The domain that limits how many such sources are read at once. */
  readonly gate?: string | undefined;
  readonly input?: InputRow | undefined;
  /** What the submitter states of the document. */
  readonly metadata?: Metadata | undefined;
}

export interface Submission {
  readonly key: string;
  readonly caller: string;
  readonly corpus: string;
  readonly sources: readonly NewSource[];
  /** The sources are where a crawl begins. */
  readonly crawl?: Crawl | undefined;
  /** The sources are documents that are embedded, or split into chunks, again. */
  readonly type?: 'reembed' | 'rechunk' | undefined;
  readonly budgetCents?: number | undefined;
  readonly webhookUrl?: string | undefined;
  readonly maxWallSeconds?: number | undefined;
  readonly submitter?: Submitter | undefined;
  readonly priority: number;
  readonly force: boolean;
  /** The same request again is not a second job. */
  readonly idempotency?: IdempotentRequest | undefined;
  /** `cheap`: what providers do for hours at a lower price is left to them. */
  readonly lane?: 'now' | 'cheap' | undefined;
  readonly now: number;
}

/** The job that holds the submission, and its items in the order of their sources. */
export interface Submitted {
  readonly jobKey: string;
  readonly itemIds: readonly number[];
  /** The job was there: the same request had been accepted before. */
  readonly isReplayed: boolean;
}

const finishOf = sql<{ finish: number }>`
  SELECT finish FROM shares WHERE caller = :caller {forUpdate}`;
const setFinish = sql`
  INSERT INTO shares (caller, finish) VALUES (:caller, :finish)
  ON CONFLICT (caller) DO UPDATE SET finish = excluded.finish`;

export async function insertSubmission(
  transaction: Transaction,
  submission: Submission,
): Promise<Submitted> {
  const { corpus, sources, crawl, idempotency, now } = submission;
  if (idempotency) {
    const jobKey = await takeKey(transaction, {
      ...idempotency,
      caller: submission.caller,
      jobKey: submission.key,
      now,
    });
    if (jobKey !== undefined) return { jobKey, itemIds: [], isReplayed: true };
  }
  await ensureCorpus(transaction, placeOf(submission).corpus, now);
  const job = {
    ...submission,
    type: typeOf(submission),
    url: sources[0]?.source ?? null,
    itemsTotal: sources.length,
  };
  const jobId = await insertJob(transaction, job);
  const ids = await addItems(transaction, { ...job, id: jobId }, sources);
  if (crawl) {
    const urls = sources.map(({ source }) => source);
    const metadata = metadataText(sources[0]?.metadata);
    await insertCrawl(transaction, jobId, { crawl, urls, metadata });
  }
  const accepted = { from: null, to: jobMachine.initial, reason: 'accepted' };
  const detail = { ...accepted, corpus, items: sources.length };
  await appendEvents(transaction, [{ kind: 'job_accepted', jobId, attempt: 1, detail }], now);
  return { jobKey: submission.key, itemIds: ids, isReplayed: false };
}

function typeOf({ crawl, type }: Submission): NewJob['type'] {
  return type ?? (crawl ? 'crawl' : 'ingest');
}

export interface ItemsOfJob {
  readonly id: number;
  readonly caller: string;
  readonly corpus: string;
  readonly priority: number;
  readonly force: boolean;
  readonly now: number;
}

/** Adds items to a job, at the end of its caller's share. It does not count them for the job. */
export async function addItems(
  transaction: Transaction,
  job: ItemsOfJob,
  sources: readonly NewSource[],
): Promise<number[]> {
  const firstRank = await reserveRanks(transaction, job, sources.length);
  const ids: number[] = [];
  const { itemsPerInsertMax } = limits.store;
  for (let from = 0; from < sources.length; from += itemsPerInsertMax) {
    const some = sources.slice(from, from + itemsPerInsertMax);
    for (const id of await addSome(transaction, job, { some, firstRank: firstRank + from })) {
      ids.push(id);
    }
  }
  const gates = sources.flatMap(({ gate }) => gate ?? []);
  await admitAtGates(transaction, gates, job.now);
  return ids;
}

async function addSome(
  transaction: Transaction,
  job: ItemsOfJob,
  { some, firstRank }: { readonly some: readonly NewSource[]; readonly firstRank: number },
): Promise<number[]> {
  const names = some.map(({ source }) => source);
  const documentIds = await documentIdsOf(transaction, placeOf(job), names);
  const ids = await insertItems(
    transaction,
    job,
    some.map(({ kind, source, gate, metadata }, index) => ({
      documentId: documentIds[index] as string,
      sourceKind: kind,
      source,
      gate: gate ?? null,
      rank: firstRank + index,
      metadata: metadataText(metadata),
    })),
  );
  await insertInputs(
    transaction,
    some.flatMap(({ input }, index) =>
      input ? [{ ...input, body: readable(input.body), item_id: ids[index] as number }] : [],
    ),
  );
  return ids;
}

/** Not every database can store a zero character, and no text means one. */
function readable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** Places for so many items, at the end of their caller's share. */
export async function reserveRanks(
  transaction: Transaction,
  { caller, priority }: ItemsOfJob,
  count: number,
): Promise<number> {
  const [[share], now] = await Promise.all([
    transaction.run(finishOf, { caller }),
    virtualTime(transaction),
  ]);
  const { firstRank, finish } = assignRanks({
    virtualTime: now,
    finish: share?.finish ?? 0,
    count,
    priority,
  });
  await transaction.run(setFinish, { caller, finish });
  return firstRank;
}
