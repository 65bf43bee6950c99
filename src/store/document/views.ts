/** A document as shown to callers: its passages, and where its content comes from. */
import { placeOf } from '../../kernel/name/corpus-name.ts';
import { buriedUpTo } from '../delivery/sinks.ts';
import type { Reader } from '../driver/database.ts';
import { all, first } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';
import type { ItemRow } from '../item/items.ts';
import type { ChunkRow } from './chunks.ts';
import { type CorpusRow, partlyRead } from './documents.ts';
import type { ValidatorsRow } from './validators.ts';

export const listChunks = all<{ generation_id: number; after: number; limit: number }, ChunkRow>`
  SELECT * FROM chunks WHERE generation_id = :generation_id AND ordinal > :after
  ORDER BY ordinal LIMIT :limit`;

export const getChunk = first<{ generation_id: number; key: string }, ChunkRow>`
  SELECT * FROM chunks WHERE generation_id = :generation_id AND key = :key LIMIT 1`;

export interface SectionRow {
  readonly heading: string;
  readonly ordinal: number;
  readonly chunks: number;
  readonly key: string;
  readonly page: number | null;
}

/** The headings of a generation in order, each with its first chunk. */
export const listSections = all<
  { generation_id: number; after: number; limit: number },
  SectionRow
>`
  SELECT sections.heading, sections.ordinal, sections.chunks, chunks.key, chunks.page
  FROM (SELECT heading, MIN(ordinal) AS ordinal, COUNT(*) AS chunks FROM chunks
    WHERE generation_id = :generation_id GROUP BY heading) AS sections
  JOIN chunks ON chunks.generation_id = :generation_id AND chunks.ordinal = sections.ordinal
  WHERE sections.ordinal > :after ORDER BY sections.ordinal LIMIT :limit`;

/** The newest submission of a document. */
export const getNewestItem = first<string, ItemRow>`
  SELECT * FROM items WHERE document_id = :document_id ORDER BY id DESC LIMIT 1`;

/** Whether the document was deleted after its newest submission. */
export async function isDeleted(
  reader: Reader,
  document: { documentId: string; newestItemId: number },
): Promise<boolean> {
  return (await buriedUpTo(reader, document.documentId)) >= document.newestItemId;
}

export const getValidators = first<string, ValidatorsRow>`
  SELECT * FROM validators WHERE document_id = :document_id`;

/**
 * A corpus is in a caller's namespace if it contains a document of that namespace, or a job of any
 * caller has submitted one. A corpus that now belongs to another caller is queried by its place.
 */
const corporaOf = (chosen: string) => sql<CorpusRow>`
  SELECT own.name, own.created_at, COUNT(documents.id) AS documents,
    COUNT(CASE WHEN ${partlyRead} THEN 1 END) AS documents_partly_read,
    COALESCE(SUM(documents.chunk_count), 0) AS chunks,
    COALESCE(SUM(documents.text_bytes), 0) AS text_bytes, MAX(documents.updated_at) AS updated_at
  FROM (
    SELECT name, created_at FROM corpora WHERE (
      EXISTS (SELECT 1 FROM documents
        WHERE documents.corpus = corpora.name AND documents.caller = :caller)
      OR EXISTS (SELECT 1 FROM jobs
        WHERE jobs.caller = :caller AND jobs.corpus = corpora.name)
      OR EXISTS (SELECT 1 FROM corpus_owners JOIN jobs ON jobs.caller = corpus_owners.owner
          AND jobs.corpus = corpora.name || '@' || :caller
        WHERE corpus_owners.namespace = :caller AND corpus_owners.corpus = corpora.name))
      AND ${chosen}) AS own
  LEFT JOIN documents ON documents.corpus = own.name AND documents.caller = :caller
  GROUP BY own.name, own.created_at ORDER BY own.name`;
const corpusOf = corporaOf('name = :name');
const notAway = `NOT EXISTS (SELECT 1 FROM corpus_owners
  WHERE corpus_owners.namespace = :caller AND corpus_owners.corpus = corpora.name)`;
const ownCorpora = corporaOf(`name > :after AND ${notAway} ORDER BY name LIMIT :limit`);
const anyCorpus = sql<{ name: string; created_at: number }>`
  SELECT name, created_at FROM corpora WHERE name = :name`;

export async function getCorpus(
  reader: Reader,
  { caller, name, isHeld }: { caller: string; name: string; isHeld?: boolean },
): Promise<CorpusRow | undefined> {
  const [row] = await reader.run(corpusOf, { caller, name });
  if (row || !isHeld) return row;
  const sizes = { documents: 0, documents_partly_read: 0, chunks: 0, text_bytes: 0 };
  const [corpus] = await reader.run(anyCorpus, { name });
  return corpus && { ...corpus, ...sizes, updated_at: null };
}

/** The corpora of a caller, by name. Names of other corpora are private. */
export function listCorpora(
  reader: Reader,
  page: { caller: string; after: string; limit: number },
): Promise<CorpusRow[]> {
  return reader.run(ownCorpora, page);
}

/** The items of a document, newest first. A generation is removed once the next one is current. */
export const listRuns = all<{ document_id: string; before: number; limit: number }, ItemRow>`
  SELECT * FROM items WHERE document_id = :document_id AND id < :before
  ORDER BY id DESC LIMIT :limit`;

const partlyReadByJob = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM documents JOIN items ON items.id = documents.as_of
  WHERE documents.corpus = :corpus AND documents.caller = :caller AND ${partlyRead}
    AND items.job_id = :job_id`;

/** How many documents a job has read in part, or found unchanged since they were. */
export async function countPartlyRead(
  reader: Reader,
  job: { readonly id: number; readonly caller: string; readonly corpus: string },
): Promise<number> {
  const rows = await reader.run(partlyReadByJob, { ...placeOf(job), job_id: job.id });
  return rows[0]?.count ?? 0;
}
