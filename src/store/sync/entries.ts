/** What a source held when it was last compared: one entry for each document. */

import { itemMoves } from '../../kernel/lifecycle/item-wait.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';
import { atPlaces } from '../item/at-places.ts';

export interface EntryRow {
  readonly key: string;
  readonly document_id: string;
  /** What the source says of the content: equal stamps mean equal content. */
  readonly stamp: string;
  readonly size: number | null;
  /** A person decided to keep the document although the source lacks it. */
  readonly is_kept: number;
}

/** An entry, with what the corpus has for it. */
export interface ComparedEntry extends EntryRow {
  /** The bytes that the current text was made of; null: the corpus has no such document. */
  readonly blob_key: string | null;
  readonly bytes: number | null;
  readonly has_document: number;
}

const columns = `sync_entries.key, sync_entries.document_id, sync_entries.stamp,
  sync_entries.size, sync_entries.is_kept, fetches.blob_key, fetches.bytes,
  CASE WHEN documents.id IS NULL THEN 0 ELSE 1 END AS has_document`;
const joined = `FROM sync_entries
  LEFT JOIN documents ON documents.id = sync_entries.document_id
  LEFT JOIN fetches ON fetches.generation_id = documents.generation_id`;
const between = sql<ComparedEntry>`
  SELECT ${columns} ${joined}
  WHERE sync_entries.source_id = :source_id AND sync_entries.key > :after
    AND sync_entries.key <= :until
  ORDER BY sync_entries.key LIMIT :limit`;
const toEnd = sql<ComparedEntry>`
  SELECT ${columns} ${joined}
  WHERE sync_entries.source_id = :source_id AND sync_entries.key > :after
  ORDER BY sync_entries.key LIMIT :limit`;

/** Entries after a key, up to another; in the order of the bytes of their keys. */
export function listEntries(
  reader: Reader,
  { sourceId, after, until, limit }: EntryRange,
): Promise<ComparedEntry[]> {
  const range = { source_id: sourceId, after, limit };
  return until === undefined ? reader.run(toEnd, range) : reader.run(between, { ...range, until });
}

export interface EntryRange {
  readonly sourceId: number;
  readonly after: string;
  readonly until?: string | undefined;
  readonly limit: number;
}

const amongKeys = sql<ComparedEntry>`
  SELECT ${columns} ${joined}
  WHERE sync_entries.source_id = :source_id AND sync_entries.key {amongKeys}`;

export function getEntries(
  reader: Reader,
  sourceId: number,
  keys: readonly string[],
): Promise<ComparedEntry[]> {
  return reader.run(amongKeys, { source_id: sourceId, keys: JSON.stringify(keys) });
}

const waiting = sql<{ document_id: string }>`
  SELECT document_id FROM items WHERE document_id {amongKeys}
    AND id = (SELECT MAX(newer.id) FROM items AS newer
      WHERE newer.document_id = items.document_id)
    AND (${atPlaces(itemMoves.cancel.from)} OR error IS NOT NULL)`;

/**
 * Of these documents, those that are being read, or have failed. A failed one is in the inbox, or
 * a person has discarded it there: it is not submitted again while its source is unchanged.
 */
export async function listExpected(
  reader: Reader,
  documentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (documentIds.length === 0) return new Set();
  const rows = await reader.run(waiting, { keys: JSON.stringify(documentIds) });
  return new Set(rows.map(({ document_id }) => document_id));
}

const put = sqlRows({ key: 'text', document_id: 'text', stamp: 'text', size: 'int' })`
  INSERT INTO sync_entries (source_id, key, document_id, stamp, size)
  SELECT :source_id, :key, :document_id, :stamp, :size {rows} WHERE 1 = 1
  ON CONFLICT (source_id, key) DO UPDATE SET document_id = excluded.document_id,
    stamp = excluded.stamp, size = excluded.size, is_kept = 0`;

export async function putEntries(
  transaction: Transaction,
  sourceId: number,
  entries: readonly Omit<EntryRow, 'is_kept'>[],
): Promise<void> {
  const rows = entries.map(({ key, document_id, stamp, size }) => ({
    key,
    document_id,
    stamp,
    size,
  }));
  await transaction.each(put, rows, { source_id: sourceId });
}

const setStamp = sqlRows({ key: 'text', stamp: 'text', size: 'int' })`
  UPDATE sync_entries SET stamp = :stamp, size = :size, is_kept = 0 {rows}
  WHERE sync_entries.source_id = :source_id AND sync_entries.key = :key`;

/** The content is the same under another stamp. */
export async function restampEntries(
  transaction: Transaction,
  sourceId: number,
  entries: readonly { key: string; stamp: string; size: number | null }[],
): Promise<void> {
  await transaction.each(setStamp, entries, { source_id: sourceId });
}

const remove = sql`
  DELETE FROM sync_entries WHERE source_id = :source_id AND key {amongKeys}`;

export async function deleteEntries(
  transaction: Transaction,
  sourceId: number,
  keys: readonly string[],
): Promise<void> {
  await transaction.run(remove, { source_id: sourceId, keys: JSON.stringify(keys) });
}

const keep = sql`
  UPDATE sync_entries SET is_kept = 1 WHERE source_id = :source_id AND key {amongKeys}`;

/** Documents that stay although the source lacks them. */
export async function keepEntries(
  transaction: Transaction,
  sourceId: number,
  keys: readonly string[],
): Promise<void> {
  await transaction.run(keep, { source_id: sourceId, keys: JSON.stringify(keys) });
}

const counted = sql<{ count: number; kept: number | null }>`
  SELECT COUNT(*) AS count, SUM(is_kept) AS kept FROM sync_entries WHERE source_id = :source_id`;

/** How many entries a source has, without those that a person keeps. */
export async function countEntries(reader: Reader, sourceId: number): Promise<number> {
  const [row] = await reader.run(counted, { source_id: sourceId });
  return Number(row?.count ?? 0) - Number(row?.kept ?? 0);
}

const others = sql<{ document_id: string }>`
  SELECT DISTINCT sync_entries.document_id FROM sync_entries
  WHERE document_id {amongKeys} AND source_id <> :source_id`;

/** Of these documents, those that another source has as well. */
export async function listShared(
  reader: Reader,
  sourceId: number,
  documentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const keys = JSON.stringify(documentIds);
  const rows = await reader.run(others, { keys, source_id: sourceId });
  return new Set(rows.map(({ document_id }) => document_id));
}

const adopt = sql`
  INSERT INTO sync_entries (source_id, key, document_id, stamp, size)
  SELECT :source_id, substr(documents.source, length(:prefix) + 1), documents.id, '', NULL
  FROM documents
  WHERE documents.corpus = :corpus AND documents.caller = :caller
    AND substr(documents.source, 1, length(:prefix)) = :prefix
    AND NOT EXISTS (SELECT 1 FROM attachments WHERE attachments.document_id = documents.id)
  ON CONFLICT (source_id, key) DO NOTHING`;

/** Documents of the corpus whose names begin with this text become entries of the source. */
export async function adoptDocuments(
  transaction: Transaction,
  { sourceId, place, prefix }: { sourceId: number; place: CorpusPlace; prefix: string },
): Promise<void> {
  const { caller, corpus } = place;
  await transaction.run(adopt, { source_id: sourceId, caller, corpus, prefix });
}
