/**
 * The turn of a corpus from one model to the next: when every current document has all its vectors
 * of the next one. Every flip of a document holds the corpus' settings, and the turn locks them:
 * whatever became current before is seen by the turn, and whatever comes after sees it.
 */

import { limits } from '../../kernel/limits/limits.ts';
import { placeOf } from '../../kernel/name/corpus-name.ts';
import type { NewEvent } from '../../observe/event.ts';
import type { Reader, Transaction } from '../driver/database.ts';
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

/** Turns the corpus to its next model if nothing is missing for it. Returns the event of it. */
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

/** Some documents of a corpus, in the order in which it is embedded anew. */
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

/** With the last item that a job has so far, the documents that come after it, if there are any. */
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
 * The same for a job of which all items have ended, and the last not well: it failed, or its
 * document was deleted. False: there are no others, and the job has come to its end.
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

/** Corpora that still hold vectors of a model they have turned from. */
export function listTurned(
  reader: Reader,
): Promise<{ caller: string; corpus: string; old_model: string }[]> {
  return reader.run(corpora);
}

/**
 * Removes vectors of the old model of some documents. Returns how many vectors went. The corpus may
 * have turned back since it was listed: then nothing goes.
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

const pruneAll = sql`
  DELETE FROM vectors WHERE model = :model AND generation_id IN (
    SELECT generation_id FROM documents WHERE caller = :caller AND corpus = :corpus)`;

/** Removes the vectors of a model from what is current in a corpus. */
export async function pruneVectorsOf(
  transaction: Transaction,
  key: CorpusKey & { readonly model: string },
): Promise<void> {
  const { caller, corpus, model } = key;
  await transaction.run(pruneAll, { caller, corpus, model });
}
