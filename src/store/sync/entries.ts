/** What a source held when it was last compared: one entry for each document. */

import { place } from '../../kernel/lifecycle/item-wait.ts';
import { syncRunState } from '../../kernel/lifecycle/sync-run.ts';
import type { CorpusPlace } from '../../kernel/name/corpus-name.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';

export interface EntryRow {
  readonly key: string;
  readonly document_id: string;
  /** What the source says of the content: equal stamps mean equal content. */
  readonly stamp: string;
  readonly size: number | null;
  /** The submission with the content of the stamp; 0: the document was there before. */
  readonly item_id: number;
  /** The run whose listing lacked it; 0: the last one had it. */
  readonly missed: number;
  /** A person decided to keep the document although the source lacks it. */
  readonly is_kept: number;
}

/** An entry, with what the corpus has for it. */
export interface ComparedEntry extends EntryRow {
  /** The bytes that the current text was made of; null: the corpus has no such document. */
  readonly blob_key: string | null;
  readonly bytes: number | null;
  readonly has_document: number;
  /** Whether the run that missed it had a complete listing. */
  readonly was_missed: number;
  /**
   * What became of the submission: `lost` if it was canceled, or is no longer known; `absent` if it
   * did not find the document, which has come back since.
   */
  readonly standing: 'indexed' | 'reading' | 'waiting' | 'failed' | 'lost' | 'absent';
  /** The bytes that the submission has read; null: it has not read them, or they are pruned. */
  readonly read_key: string | null;
  readonly read_bytes: number | null;
}

const columns = `sync_entries.key, sync_entries.document_id, sync_entries.stamp,
  sync_entries.size, sync_entries.item_id, sync_entries.missed, sync_entries.is_kept,
  fetches.blob_key, fetches.bytes, CASE WHEN documents.id IS NULL THEN 0 ELSE 1 END AS has_document,
  CASE WHEN documents.as_of >= sync_entries.item_id THEN 'indexed'
    WHEN items.waits_on = '${place.worker}' THEN 'reading'
    WHEN items.waits_on IS NOT NULL THEN 'waiting'
    WHEN items.error ->> 'code' = 'source_missing' THEN 'absent'
    WHEN items.error IS NOT NULL THEN 'failed' ELSE 'lost' END AS standing,
  own.blob_key AS read_key, own.bytes AS read_bytes,
  CASE WHEN misser.id IS NULL THEN 0 ELSE 1 END AS was_missed`;
const joined = `FROM sync_entries
  LEFT JOIN documents ON documents.id = sync_entries.document_id
  LEFT JOIN fetches ON fetches.generation_id = documents.generation_id
  LEFT JOIN items ON items.id = sync_entries.item_id
  LEFT JOIN fetches AS own ON own.generation_id = sync_entries.item_id
  LEFT JOIN sync_runs AS misser ON misser.id = sync_entries.missed
    AND misser.state = '${syncRunState.succeeded}'`;
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

const stamps = sql<{ key: string; stamp: string }>`
  SELECT key, stamp FROM sync_entries WHERE source_id = :source_id AND key {amongKeys}`;

/** The stamps by key, for conditional requests. */
export async function getStamps(
  reader: Reader,
  sourceId: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.run(stamps, { source_id: sourceId, keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, stamp }) => [key, stamp]));
}

const put = sqlRows({
  key: 'text',
  document_id: 'text',
  stamp: 'text',
  size: 'int',
  item_id: 'int',
})`
  INSERT INTO sync_entries (source_id, key, document_id, stamp, size, item_id)
  SELECT :source_id, :key, :document_id, :stamp, :size, :item_id {rows} WHERE 1 = 1
  ON CONFLICT (source_id, key) DO UPDATE SET document_id = excluded.document_id,
    stamp = excluded.stamp, size = excluded.size, item_id = excluded.item_id, missed = 0,
    is_kept = 0`;

export type NewEntry = Pick<EntryRow, 'key' | 'document_id' | 'stamp' | 'size'> & {
  /** Absent: the document is there already. */
  readonly item_id?: number | undefined;
};

export async function putEntries(
  transaction: Transaction,
  sourceId: number,
  entries: readonly NewEntry[],
): Promise<void> {
  const rows = entries.map(({ key, document_id, stamp, size, item_id = 0 }) => ({
    key,
    document_id,
    stamp,
    size,
    item_id,
  }));
  await transaction.each(put, rows, { source_id: sourceId });
}

const setStamp = sqlRows({ key: 'text', stamp: 'text', size: 'int' })`
  UPDATE sync_entries SET stamp = :stamp, size = :size, missed = 0, is_kept = 0 {rows}
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

const miss = sql`
  UPDATE sync_entries SET missed = :run_id WHERE source_id = :source_id AND key {amongKeys}`;

/** Entries that this listing lacks: they are removed if the next one lacks them as well. */
export async function missEntries(
  transaction: Transaction,
  { runId: run_id, sourceId: source_id }: { readonly runId: number; readonly sourceId: number },
  keys: readonly string[],
): Promise<void> {
  await transaction.run(miss, { run_id, source_id, keys: JSON.stringify(keys) });
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
