/**
 * Switches a corpus from one model to the next, when every current document has all vectors of the
 * next model. Every flip of a document takes a shared lock on the corpus settings, and the switch
 * locks them exclusively: the switch sees every earlier flip, and every later flip sees the switch.
 */

import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import { getJobById } from '../job/jobs.ts';
import { growJob } from '../job/moves.ts';
import { addItems, type NewSource } from '../job/submit.ts';
import { type CorpusKey, flipModel, lockCorpusSettings } from './settings.ts';

const incomplete = sql<{ id: string }>`
  SELECT documents.id FROM documents WHERE documents.caller = :caller
    AND documents.corpus = :corpus AND documents.chunk_count > (
      SELECT COUNT(*) FROM vectors WHERE vectors.generation_id = documents.generation_id
        AND vectors.model = :model)
  LIMIT 1`;

/** Switches the corpus to its next model if no vector is missing. Returns the event. */
export async function turnToNextModel(
  transaction: Transaction,
  job: CorpusKey,
): Promise<NewEvent | undefined> {
  const key = placeOf(job);
  const { corpus } = key;
  const { model: from, next_model: model } = await lockCorpusSettings(transaction, key);
  if (model === null) return undefined;
  if ((await transaction.run(incomplete, { ...key, model })).length > 0) return undefined;
  if (!(await flipModel(transaction, { ...key, model }))) return undefined;
  return { kind: 'corpus_reembedded', jobId: null, detail: { corpus, from, to: model } };
}

const documentsAfter = sql<{ source: string }>`
  SELECT source FROM documents WHERE caller = :caller AND corpus = :corpus AND id > :after
  ORDER BY id LIMIT :limit`;

/** One page of documents of a corpus, in the order of re-embedding. */
export async function listToReembed(
  reader: Reader,
  { caller, corpus, after }: CorpusKey & { readonly after: string },
): Promise<NewSource[]> {
  const limit = limits.job.reembedPageMax;
  const rows = await reader.run(documentsAfter, { caller, corpus, after, limit });
  return rows.map(({ source }) => ({ kind: 'reembed', source }));
}

const laterItem = sql<{ id: number }>`
  SELECT id FROM items WHERE job_id = :job_id AND id > :id LIMIT 1`;

export interface LastItem extends CorpusKey {
  readonly id: number;
  readonly jobId: number;
  readonly documentId: string;
}

/** With the last item of a job, adds the next page of documents, if there is one. */
export async function addToReembed(
  transaction: Transaction,
  { id, jobId, documentId, caller, corpus }: LastItem,
  now: number,
): Promise<boolean> {
  if ((await transaction.run(laterItem, { job_id: jobId, id })).length > 0) return false;
  const sources = await listToReembed(transaction, { caller, corpus, after: documentId });
  const job = sources.length > 0 ? await getJobById(transaction, jobId) : undefined;
  if (!job) return false;
  await addItems(transaction, { ...job, force: job.force === 1, now }, sources);
  await growJob(transaction, { id: jobId, count: sources.length, now });
  return true;
}

const lastItem = sql<{ id: number; document_id: string }>`
  SELECT id, document_id FROM items WHERE job_id = :job_id ORDER BY id DESC LIMIT 1`;

/**
 * The same for a job whose items have all ended and whose last item failed, or lost its document.
 * Returns false if there are no more documents: the job has ended.
 */
export async function goOnReembedding(
  transaction: Transaction,
  job: CorpusKey & { readonly id: number },
  now: number,
): Promise<boolean> {
  const { id: jobId } = job;
  const place = placeOf(job);
  const { next_model } = await lockCorpusSettings(transaction, place);
  const [last] = await transaction.run(lastItem, { job_id: jobId });
  if (next_model === null || !last) return false;
  const { id, document_id: documentId } = last;
  return addToReembed(transaction, { id, jobId, documentId, ...place }, now);
}

const corpora = sql<{ caller: string; corpus: string; old_model: string }>`
  SELECT caller, corpus, old_model FROM corpus_settings WHERE old_model IS NOT NULL`;
const pruneVectors = sql<{ ordinal: number }>`
  DELETE FROM vectors WHERE model = :model AND generation_id IN (
    SELECT documents.generation_id FROM documents
    WHERE documents.caller = :caller AND documents.corpus = :corpus AND EXISTS (
      SELECT 1 FROM vectors AS old WHERE old.generation_id = documents.generation_id
        AND old.model = :model)
    ORDER BY documents.generation_id LIMIT :limit)
  RETURNING ordinal`;
const holdOld = sql<{ old_model: string }>`
  SELECT old_model FROM corpus_settings
  WHERE caller = :caller AND corpus = :corpus AND old_model = :model {forShare}`;
const forgetOld = sql`
  UPDATE corpus_settings SET old_model = NULL WHERE caller = :caller AND corpus = :corpus`;

/** Corpora that still have vectors of their previous model. */
export function listTurned(
  reader: Reader,
): Promise<{ caller: string; corpus: string; old_model: string }[]> {
  return reader.run(corpora);
}

/**
 * Removes vectors of the old model from some documents. Returns the number of vectors removed.
 * Removes nothing if the corpus has switched back since it was listed.
 */
export async function pruneOldVectors(
  transaction: Transaction,
  turned: { caller: string; corpus: string; old_model: string },
  limit: number,
): Promise<number> {
  const { caller, corpus, old_model: model } = turned;
  if ((await transaction.run(holdOld, { caller, corpus, model })).length === 0) return 0;
  const gone = await transaction.run(pruneVectors, { caller, corpus, model, limit });
  if (gone.length === 0) await transaction.run(forgetOld, { caller, corpus });
  return gone.length;
}

/** Removes the vectors of a model from the current documents of a corpus. */
export const pruneVectorsOf = write<CorpusKey & { readonly model: string }>`
  DELETE FROM vectors WHERE model = :model AND generation_id IN (
    SELECT generation_id FROM documents WHERE caller = :caller AND corpus = :corpus)`;
