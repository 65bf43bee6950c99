/**
 * Documents that are split by other values than their corpus asks for. A change of the values takes
 * the exclusive lock on the corpus settings, and every flip the shared one: a change sees every
 * earlier flip, and a flip that comes later sees the change and adds an item of its own.
 */
import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { hits } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { getJobById } from '../job/jobs.ts';
import { growJob } from '../job/moves.ts';
import { addItems, type NewSource } from '../job/submit.ts';
import { type CorpusKey, getCorpusSettings, holdCorpusSettings } from './settings.ts';

const differing = `documents.caller = :caller AND documents.corpus = :corpus
  AND COALESCE(documents.chunking, '') <> COALESCE(CAST(:chunking AS TEXT), '')`;

const countOthers = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM documents WHERE ${differing}`;

export async function countToChunk(
  reader: Reader,
  { caller, corpus, chunking }: CorpusKey & { readonly chunking: string | null },
): Promise<number> {
  const rows = await reader.run(countOthers, { caller, corpus, chunking });
  return Number(rows[0]?.count ?? 0);
}

const othersAfter = sql<{ source: string }>`
  SELECT source FROM documents WHERE ${differing} AND id > :after ORDER BY id LIMIT :limit`;

/** One page of the documents to split again. */
export async function listToChunk(
  reader: Reader,
  { caller, corpus, chunking, after }: ToChunk,
): Promise<NewSource[]> {
  const limit = limits.job.reembedPageMax;
  const rows = await reader.run(othersAfter, { caller, corpus, chunking, after, limit });
  return rows.map(({ source }) => ({ kind: 'rechunk', source }));
}

interface ToChunk extends CorpusKey {
  readonly chunking: string | null;
  /** The id of a document. */
  readonly after: string;
}

const typeOf = sql<{ type: string }>`SELECT type FROM jobs WHERE id = :id`;
const hasLater = hits<{ job_id: number; id: number }>`
  SELECT id FROM items WHERE job_id = :job_id AND id > :id LIMIT 1`;

export interface ChunkedItem extends CorpusKey {
  readonly id: number;
  readonly jobId: number;
  readonly documentId: string;
}

/** With the last item of a re-chunking job, adds the next page of documents, if there is one. */
export async function addToRechunk(
  transaction: Transaction,
  { id, jobId, documentId, caller, corpus }: ChunkedItem,
  now: number,
): Promise<boolean> {
  // The items that a flip adds belong to its own job.
  if ((await transaction.run(typeOf, { id: jobId }))[0]?.type !== 'rechunk') return false;
  if (await hasLater(transaction, { job_id: jobId, id })) return false;
  const { chunking } = await getCorpusSettings(transaction, { caller, corpus });
  const page = { caller, corpus, chunking, after: documentId };
  return grow(transaction, jobId, await listToChunk(transaction, page), now);
}

export interface Chunked extends CorpusKey {
  readonly jobId: number;
  readonly source: string;
  /** What the document is split by. */
  readonly chunking: string | null;
}

/**
 * The item has made the content of its document current, or found it unchanged. If the values have
 * changed meanwhile, the document is split again by another item of the job.
 */
export async function checkChunking(
  transaction: Transaction,
  { jobId, source, chunking, ...key }: Chunked,
  now: number,
): Promise<void> {
  const settings = await holdCorpusSettings(transaction, key);
  if (settings.chunking === chunking) return;
  await grow(transaction, jobId, [{ kind: 'rechunk', source }], now);
}

async function grow(
  transaction: Transaction,
  jobId: number,
  sources: readonly NewSource[],
  now: number,
): Promise<boolean> {
  const job = sources.length > 0 ? await getJobById(transaction, jobId) : undefined;
  if (!job) return false;
  await addItems(transaction, { ...job, force: job.force === 1, now }, sources);
  await growJob(transaction, { id: jobId, count: sources.length, now });
  return true;
}

const lastItem = sql<{ id: number; document_id: string }>`
  SELECT id, document_id FROM items WHERE job_id = :job_id ORDER BY id DESC LIMIT 1`;

/** The same for a job whose items have all ended, the last one without its document. */
export async function goOnRechunking(
  transaction: Transaction,
  job: CorpusKey & { readonly id: number },
  now: number,
): Promise<boolean> {
  const [last] = await transaction.run(lastItem, { job_id: job.id });
  if (!last) return false;
  const { id, document_id: documentId } = last;
  return addToRechunk(transaction, { id, jobId: job.id, documentId, ...placeOf(job) }, now);
}
