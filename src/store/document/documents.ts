/**
 * Documents and their generations. A generation is made by one item and carries its id. It is
 * written beside the current one; `flip` makes it current in the transaction of the step; the next
 * commit prunes what it replaced. Readers join on `generation_id`, so they see exactly one
 * generation.
 */
import { hash } from 'node:crypto';
import { Failure } from '../../kernel/failure/failure.ts';
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { type Metadata, readMetadata } from '../../kernel/metadata/metadata.ts';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { type PackedText, packText, unpackText } from '../driver/packing.ts';
import { first, hits, write } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { removeMetadata, writeMetadata } from './metadata.ts';

export interface DocumentRow {
  readonly id: string;
  readonly caller: string;
  readonly corpus: string;
  readonly source: string;
  readonly title: string | null;
  readonly language: string | null;
  readonly generation: number;
  readonly generation_id: number;
  /**
   * The newest submission with this content: the one that made it, or one that found it unchanged.
   */
  readonly as_of: number;
  readonly content_hash: string;
  readonly chunk_count: number;
  readonly text_bytes: number;
  /** Share of the text that was kept, from 0 to 1. Null: read before this was measured. */
  readonly kept_share: number | null;
  /** JSON of `Metadata`; null if there is none. */
  readonly metadata: string | null;
  /** What the current generation is split by; see `kernel/text/chunking.ts`. */
  readonly chunking: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** One source in one corpus is one document. */
export function documentIdOf(caller: string, corpus: string, source: string): string {
  return hash('sha256', `${caller}\0${corpus}\0${source}`).slice(0, 32);
}

/** A literal, not a parameter: only then is the index used. */
export const partlyRead = `documents.kept_share < ${partlyReadBelow}`;
const ofCorpus = (chosen: string) => sql<DocumentRow & { readonly meta: string | null }>`
  SELECT documents.*, texts.meta FROM documents
  LEFT JOIN texts ON texts.generation_id = documents.generation_id
  WHERE documents.corpus = :corpus AND documents.caller = :caller AND documents.id > :after
    ${chosen}
  ORDER BY documents.id LIMIT :limit`;
const allOfCorpus = ofCorpus('');
const partlyReadOfCorpus = ofCorpus(`AND ${partlyRead}`);
const addCorpus = sql`
  INSERT INTO corpora (name, created_at) VALUES (:name, :now) ON CONFLICT (name) DO NOTHING`;

export interface CorpusRow {
  readonly name: string;
  readonly created_at: number;
  readonly documents: number;
  readonly documents_partly_read: number;
  readonly chunks: number;
  readonly text_bytes: number;
  readonly updated_at: number | null;
}

export const getDocument = first<string, DocumentRow>`SELECT * FROM documents WHERE id = :id`;

/** What was found out while a document was read: author, date, pages, warnings. */
export type Meta = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface ListedDocument extends Omit<DocumentRow, 'metadata'> {
  readonly meta: Meta;
  readonly metadata: Metadata;
}

export interface DocumentPage {
  readonly caller: string;
  readonly corpus: string;
  readonly after: string;
  readonly limit: number;
  readonly partlyRead?: boolean | undefined;
}

export async function listDocuments(
  reader: Reader,
  { partlyRead: isChosen = false, ...page }: DocumentPage,
): Promise<ListedDocument[]> {
  const rows = await reader.run(isChosen ? partlyReadOfCorpus : allOfCorpus, page);
  return rows.map(({ meta, metadata, ...row }) => ({
    ...row,
    metadata: readMetadata(metadata),
    meta: meta === null ? {} : JSON.parse(meta),
  }));
}

const metaOf = sql<{ meta: string }>`
  SELECT meta FROM texts WHERE generation_id = :generation_id`;

/** The metadata of the current generation of a document. */
export async function getMeta(
  reader: Reader,
  { generation_id }: Pick<DocumentRow, 'generation_id'>,
): Promise<Meta> {
  const [row] = await reader.run(metaOf, { generation_id });
  return row ? JSON.parse(row.meta) : {};
}

export const hasCorpus = hits<string>`SELECT name FROM corpora WHERE name = :name`;

const holdCorpus = sql<{ name: string }>`
  SELECT name FROM corpora WHERE name = :name {forShare}`;

/** The corpus exists from here to the commit. */
export async function ensureCorpus(
  transaction: Transaction,
  name: string,
  now: number,
): Promise<void> {
  for (let tries = 0; tries < limits.store.conflictRetriesMax; tries += 1) {
    await transaction.run(addCorpus, { name, now });
    if ((await transaction.run(holdCorpus, { name })).length > 0) return;
    // It was deleted between the two statements.
  }
  throw new Failure('store_busy', `the corpus ${name} is being deleted`);
}

/** Waits for open submissions to the corpus and blocks new ones until the commit. */
export const lockCorpus = write<string>`SELECT name FROM corpora WHERE name = :name {forUpdate}`;

/** Removes a corpus that has no documents left and no submission in progress. */
export const deleteCorpus = hits<string, Transaction>`
  DELETE FROM corpora WHERE name = :name
    AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.corpus = :name)
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.ended_at IS NULL AND (jobs.corpus = :name
      OR substr(jobs.corpus, 1, length(:name) + 1) = :name || '@'))
  RETURNING name`;

export interface TextRow
  extends Pick<DocumentRow, 'generation_id' | 'title' | 'language' | 'content_hash'> {
  readonly document_id: string;
  readonly body: string;
  /** JSON of `Meta`. */
  readonly meta: string;
  /** Metadata that the text states of itself, as JSON. */
  readonly metadata?: string | null | undefined;
  /** What it is split by; see `kernel/text/chunking.ts`. */
  readonly chunking?: string | null | undefined;
  /** The generation that it was copied from, to be split again. */
  readonly copied_from?: number | null | undefined;
}

const putText = sql`
  INSERT INTO texts (generation_id, document_id, title, language, body, packed, content_hash,
    meta, metadata, chunking, copied_from, created_at)
  VALUES (:generation_id, :document_id, :title, :language, :body, :packed, :content_hash,
    :meta, :metadata, :chunking, :copied_from, :now)
  ON CONFLICT (generation_id) DO UPDATE SET title = excluded.title, language = excluded.language,
    body = excluded.body, packed = excluded.packed, content_hash = excluded.content_hash,
    meta = excluded.meta, metadata = excluded.metadata, chunking = excluded.chunking,
    copied_from = excluded.copied_from`;

export async function writeText(
  transaction: Transaction,
  text: TextRow,
  now: number,
): Promise<void> {
  const { body, metadata = null, chunking = null, copied_from = null } = text;
  const packed = packText(body);
  await transaction.run(putText, { ...text, ...packed, metadata, chunking, copied_from, now });
}

const textOf = first<number, TextRow & PackedText>`
  SELECT * FROM texts WHERE generation_id = :generation_id`;

export async function getText(reader: Reader, generationId: number): Promise<TextRow | undefined> {
  const row = await textOf(reader, generationId);
  if (!row) return undefined;
  const { packed, ...text } = row;
  return { ...text, body: unpackText(row) };
}

/** The generation of a newer submission is never replaced by a slower, older one. */
const flipRow = sql<{ generation: number; metadata: string | null }>`
  INSERT INTO documents (id, caller, corpus, source, title, language, generation, generation_id,
    as_of, content_hash, chunk_count, text_bytes, kept_share, chunking, created_at, updated_at)
  VALUES (:id, :caller, :corpus, :source, :title, :language, 1, :generation_id,
    :generation_id, :content_hash, :chunk_count, :text_bytes, :kept_share, :chunking, :now, :now)
  ON CONFLICT (id) DO UPDATE SET title = excluded.title, language = excluded.language,
    generation = documents.generation + 1, generation_id = excluded.generation_id,
    as_of = excluded.as_of, content_hash = excluded.content_hash,
    chunk_count = excluded.chunk_count, text_bytes = excluded.text_bytes,
    kept_share = excluded.kept_share, chunking = excluded.chunking,
    updated_at = excluded.updated_at
  WHERE excluded.as_of > documents.as_of
  RETURNING generation, metadata`;

type FlippedColumns = Omit<
  DocumentRow,
  'generation' | 'as_of' | 'metadata' | 'chunking' | 'created_at' | 'updated_at'
>;
export interface Flip extends FlippedColumns {
  readonly kept_share: number;
  /** The metadata of the new generation; none if absent. */
  readonly metadata?: string | null | undefined;
  /** The default if absent. */
  readonly chunking?: string | null | undefined;
}

const newerThan = sql<{ id: string }>`
  SELECT id FROM documents WHERE id = :id AND as_of > :item_id
  UNION ALL SELECT document_id FROM tombstones WHERE document_id = :id AND as_of >= :item_id`;

/** Whether the document has been replaced or deleted since the item was submitted. */
export async function isSuperseded(reader: Reader, id: string, itemId: number): Promise<boolean> {
  return (await reader.run(newerThan, { id, item_id: itemId })).length > 0;
}

/** A submission with a newer text that is in progress, or failed and may be retried. */
const newerText = `SELECT 1 FROM items WHERE items.document_id = documents.id
  AND items.id > documents.as_of AND items.id < :item_id
  AND items.source_kind NOT IN ('reembed', 'rechunk') AND items.step NOT IN (
    '${place.done}', '${place.canceled}')`;
const awaitsText = sql<{ id: string }>`
  SELECT id FROM documents WHERE id = :id AND EXISTS (${newerText})`;

/** Whether a submission before this item may still replace the text of the document. */
export async function awaitsNewerText(
  reader: Reader,
  { documentId: id, id: item_id }: { readonly documentId: string; readonly id: number },
): Promise<boolean> {
  return (await reader.run(awaitsText, { id, item_id })).length > 0;
}

const replaceChunks = sql<{ generation: number }>`
  UPDATE documents SET generation = generation + 1, generation_id = :item_id,
    as_of = {greatest}(as_of, :item_id), chunk_count = :chunk_count, chunking = :chunking
  WHERE id = :id AND generation_id = :copied_from AND NOT EXISTS (${newerText})
  RETURNING generation`;

const keepValidators = sql`
  UPDATE validators SET as_of = :item_id WHERE document_id = :id AND as_of = :as_of
    AND as_of < :item_id`;

/**
 * Makes a generation current that has the text of the current one in other chunks. Undefined: that
 * text was replaced, or a submission that is still running may replace it. Otherwise that
 * submission would find a newer generation, and its text would be lost.
 */
export async function flipChunks(
  transaction: Transaction,
  row: Pick<Flip, 'id' | 'generation_id' | 'chunk_count' | 'chunking'> & {
    readonly copied_from: number;
  },
): Promise<number | undefined> {
  const { id, generation_id: item_id, chunk_count, chunking = null, copied_from } = row;
  const before = await getDocument(transaction, id);
  const values = { id, item_id, chunk_count, chunking, copied_from };
  const [replaced] = await transaction.run(replaceChunks, values);
  if (!before || !replaced) return undefined;
  // What a site said of the content holds for it in other chunks, too.
  await transaction.run(keepValidators, { id, item_id, as_of: before.as_of });
  return replaced.generation;
}

/** Makes the generation current. Undefined: a newer one is current, or the document was deleted. */
export async function flip(
  transaction: Transaction,
  row: Flip,
  now: number,
): Promise<number | undefined> {
  if (await isSuperseded(transaction, row.id, row.generation_id)) return undefined;
  const { metadata = null, chunking = null, ...columns } = row;
  const [flipped] = await transaction.run(flipRow, { ...columns, chunking, now });
  // The statement does not touch the metadata: it returns that of the generation before.
  if (flipped && flipped.metadata !== metadata) {
    await writeMetadata(transaction, { ...columns, metadata });
  }
  return flipped?.generation;
}

const measureRow = sql<{ generation_id: number }>`
  UPDATE documents SET kept_share = :kept_share
  WHERE id = :id AND content_hash = :content_hash AND as_of = :as_of RETURNING generation_id`;
const measureText = sql`UPDATE texts SET meta = :meta WHERE generation_id = :generation_id`;

/** A submission found its content to be the current one. Undefined: it no longer is. */
export const confirm = first<
  { id: string; content_hash: string; as_of: number },
  Pick<DocumentRow, 'chunking'>,
  Transaction
>`
  UPDATE documents SET as_of = {greatest}(as_of, :as_of)
  WHERE id = :id AND content_hash = :content_hash RETURNING chunking`;

/**
 * The confirming submission kept the same text, but another share of its source. Changes nothing if
 * a newer submission has confirmed the text since.
 */
export async function remeasure(
  transaction: Transaction,
  row: { id: string; content_hash: string; as_of: number; kept_share: number; meta: string },
): Promise<void> {
  const { meta, ...measured } = row;
  const rows = await transaction.run(measureRow, measured);
  for (const { generation_id } of rows) await transaction.run(measureText, { generation_id, meta });
}

/** An open item may need its own generation, even if it can no longer become current. */
const stale = sql<{ generation_id: number }>`
  SELECT texts.generation_id FROM texts
  JOIN items ON items.id = texts.generation_id
  LEFT JOIN documents ON documents.id = texts.document_id
  LEFT JOIN tombstones ON tombstones.document_id = texts.document_id
  WHERE texts.document_id = :document_id AND items.waits_on IS NULL
    AND texts.generation_id <> COALESCE(documents.generation_id, 0)
    AND texts.generation_id <=
      {greatest}(COALESCE(documents.as_of, 0), COALESCE(tombstones.as_of, 0))`;

const lockRow = sql<{ generation_id: number | null }>`
  SELECT generation_id FROM documents WHERE id = :id {forUpdate}`;

/**
 * Blocks flips and prunes of the document until the commit. Otherwise two items that end at the
 * same time would each leave the cleanup to the other. Returns the current generation.
 */
export async function lockDocument(transaction: Transaction, id: string): Promise<number | null> {
  const [row] = await transaction.run(lockRow, { id });
  return row?.generation_id ?? null;
}

/** The generations of a document that are older than the current one and not in use. */
export async function staleGenerations(reader: Reader, documentId: string): Promise<number[]> {
  const rows = await reader.run(stale, { document_id: documentId });
  return rows.map(({ generation_id }) => generation_id);
}

const removeDocument = sql`DELETE FROM documents WHERE id = :id`;
const allGenerations = sql<{ generation_id: number }>`
  SELECT generation_id FROM texts WHERE document_id = :document_id`;
/** Removes the inputs of submissions. */
const removeInputs = sql`
  DELETE FROM inputs WHERE item_id IN (SELECT id FROM items WHERE document_id = :id)`;
const removeValidators = sql`DELETE FROM validators WHERE document_id = :id`;
const bury = sql`
  INSERT INTO tombstones (document_id, as_of)
  SELECT :id, COALESCE(MAX(items.id), 0) FROM items WHERE items.document_id = :id
  ON CONFLICT (document_id) DO UPDATE SET as_of = excluded.as_of`;

/**
 * Removes a document from its corpus. Returns the generations to prune. From now on no earlier
 * submission can bring it back, not even by a retry.
 */
export async function deleteDocument(transaction: Transaction, id: string): Promise<number[]> {
  await transaction.run(removeDocument, { id });
  await transaction.run(removeValidators, { id });
  await removeMetadata(transaction, id);
  await transaction.run(removeInputs, { id });
  await transaction.run(bury, { id });
  const rows = await transaction.run(allGenerations, { document_id: id });
  return rows.map(({ generation_id }) => generation_id);
}

const removeTexts = sqlRows({ generation_id: 'int' })`
  DELETE FROM texts {rows} WHERE texts.generation_id = :generation_id`;

export async function deleteTexts(
  transaction: Transaction,
  generationIds: readonly number[],
): Promise<void> {
  await transaction.each(
    removeTexts,
    generationIds.map((generation_id) => ({ generation_id })),
  );
}
