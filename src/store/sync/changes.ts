/** What a run found, each with its evidence. Applied changes stay as the history of the run. */
import type { Reader, Transaction } from '../driver/database.ts';
import { all } from '../driver/query.ts';
import { sql, sqlRows } from '../driver/statement.ts';

/** `restored`: a removed document whose content the source has again. */
export const changeKinds = ['added', 'changed', 'moved', 'restored', 'removed'] as const;

export type ChangeKind = (typeof changeKinds)[number];

export interface ChangeRow {
  readonly id: number;
  readonly run_id: number;
  readonly kind: ChangeKind;
  readonly key: string;
  /** Of a move: the key before. */
  readonly from_key: string | null;
  readonly document_id: string | null;
  readonly stamp: string | null;
  readonly size: number | null;
  readonly evidence: string;
  /** SHA-256 of the content, if the run has read it. */
  readonly digest: string | null;
  /** Whether the content is stored as a blob under its digest. */
  readonly is_stored: number;
  readonly is_applied: number;
}

export type NewChange = Omit<ChangeRow, 'id' | 'run_id' | 'is_applied' | 'from_key'>;

const insert = sqlRows({
  kind: 'text',
  key: 'text',
  document_id: 'text',
  stamp: 'text',
  size: 'int',
  evidence: 'text',
  digest: 'text',
  is_stored: 'int',
})`
  INSERT INTO sync_changes (run_id, kind, key, document_id, stamp, size, evidence, digest,
    is_stored)
  SELECT :run_id, :kind, :key, :document_id, :stamp, :size, :evidence, :digest, :is_stored {rows}`;

export async function insertChanges(
  transaction: Transaction,
  runId: number,
  changes: readonly NewChange[],
): Promise<void> {
  await transaction.each(insert, changes, { run_id: runId });
}

interface ChangePage {
  readonly run_id: number;
  readonly kind: ChangeKind;
  readonly after: number;
  readonly limit: number;
}

/** Changes of a kind that are not applied, in pages. */
export const listOpenChanges = all<ChangePage, ChangeRow>`
  SELECT * FROM sync_changes WHERE run_id = :run_id AND kind = :kind AND id > :after
    AND is_applied = 0
  ORDER BY id LIMIT :limit`;

export const listChangesOfKind = all<ChangePage, ChangeRow>`
  SELECT * FROM sync_changes WHERE run_id = :run_id AND kind = :kind AND id > :after
  ORDER BY id LIMIT :limit`;

export const listChanges = all<Omit<ChangePage, 'kind'>, ChangeRow>`
  SELECT * FROM sync_changes WHERE run_id = :run_id AND id > :after ORDER BY id LIMIT :limit`;

const applied = sql`UPDATE sync_changes SET is_applied = 1 WHERE id {amongIds}`;

export async function markApplied(
  transaction: Transaction,
  changes: readonly Pick<ChangeRow, 'id'>[],
): Promise<void> {
  await transaction.run(applied, { ids: JSON.stringify(changes.map(({ id }) => id)) });
}

const reclassify = sqlRows({
  id: 'int',
  kind: 'text',
  from_key: 'text',
  document_id: 'text',
  evidence: 'text',
  digest: 'text',
  is_stored: 'int',
})`
  UPDATE sync_changes SET kind = :kind, from_key = :from_key, document_id = :document_id,
    evidence = :evidence, digest = :digest, is_stored = :is_stored {rows}
  WHERE sync_changes.id = :id`;

/** An added file turns out to be one that was known under another key. */
export async function reclassifyChanges(
  transaction: Transaction,
  changes: readonly Reclassified[],
): Promise<void> {
  const rows = changes.map(({ id, kind, from_key, document_id, evidence, digest, is_stored }) => ({
    id,
    kind,
    from_key,
    document_id,
    evidence,
    digest,
    is_stored,
  }));
  await transaction.each(reclassify, rows);
}

export type Reclassified = Omit<ChangeRow, 'run_id' | 'key' | 'stamp' | 'size' | 'is_applied'>;

const withContent = sql<{ id: string; blob_key: string }>`
  SELECT documents.id, fetches.blob_key FROM documents
  JOIN fetches ON fetches.generation_id = documents.generation_id WHERE documents.id {amongKeys}`;

/** The bytes that the current texts of these documents were made of. */
export async function contentKeysOf(
  reader: Reader,
  documentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.run(withContent, { keys: JSON.stringify(documentIds) });
  return new Map(rows.map(({ id, blob_key }) => [id, blob_key]));
}

const remove = sql`DELETE FROM sync_changes WHERE run_id = :run_id AND kind = :kind`;
const removeSome = sql`DELETE FROM sync_changes WHERE id {amongIds}`;

/** Forgets all changes of a kind that a run found. */
export async function dropChanges(
  transaction: Transaction,
  run: { readonly run_id: number; readonly kind: ChangeKind },
): Promise<void> {
  await transaction.run(remove, run);
}

export async function dropSome(transaction: Transaction, ids: readonly number[]): Promise<void> {
  await transaction.run(removeSome, { ids: JSON.stringify(ids) });
}

const counts = sql<{ kind: ChangeKind; count: number; open: number | null }>`
  SELECT kind, COUNT(*) AS count, SUM(1 - is_applied) AS open FROM sync_changes
  WHERE run_id = :run_id GROUP BY kind`;

export interface ChangeCount {
  readonly all: number;
  /** Not applied. */
  readonly open: number;
}

export async function countChanges(
  reader: Reader,
  runId: number,
): Promise<Readonly<Record<ChangeKind, ChangeCount>>> {
  const rows = await reader.run(counts, { run_id: runId });
  const byKind = new Map(rows.map((row) => [row.kind, row]));
  const entries = changeKinds.map((kind) => {
    const row = byKind.get(kind);
    return [kind, { all: Number(row?.count ?? 0), open: Number(row?.open ?? 0) }];
  });
  return Object.fromEntries(entries) as Record<ChangeKind, ChangeCount>;
}

/** A document that may be the origin of a file that was found under another key. */
export interface OriginRow {
  /** The removal that the move replaces; null: the document was removed by an earlier run. */
  readonly change_id: number | null;
  readonly key: string;
  readonly document_id: string;
  readonly title: string | null;
  readonly blob_key: string;
}

const missing = `FROM sync_changes
  JOIN documents ON documents.id = sync_changes.document_id
  JOIN fetches ON fetches.generation_id = documents.generation_id
  WHERE sync_changes.run_id = :run_id AND sync_changes.kind = 'removed'`;
const gone = `FROM removed_documents
  JOIN fetches ON fetches.generation_id = removed_documents.generation_id
  WHERE removed_documents.source_id = :source_id AND removed_documents.key IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM documents WHERE documents.id = removed_documents.document_id)
    AND NOT EXISTS (SELECT 1 FROM sync_changes AS taken WHERE taken.run_id = :run_id
      AND taken.document_id = removed_documents.document_id AND taken.kind = 'restored')`;
const sizes = sql<{ bytes: number }>`
  SELECT DISTINCT fetches.bytes ${missing} UNION SELECT DISTINCT fetches.bytes ${gone}`;
const origins = sql<OriginRow>`
  SELECT sync_changes.id AS change_id, sync_changes.key, sync_changes.document_id,
    documents.title, fetches.blob_key ${missing} AND fetches.blob_key {amongKeys}
  UNION ALL
  SELECT NULL, removed_documents.key, removed_documents.document_id, NULL, fetches.blob_key
  ${gone} AND fetches.blob_key {amongKeys}`;

type OriginsOf = { readonly run_id: number; readonly source_id: number };

/** The sizes of all possible origins: a file of another size need not be read. */
export async function listOriginSizes(reader: Reader, of: OriginsOf): Promise<ReadonlySet<number>> {
  const { run_id, source_id } = of;
  const rows = await reader.run(sizes, { run_id, source_id });
  return new Set(rows.map(({ bytes }) => Number(bytes)));
}

/** The possible origins of files with these contents. */
export function listOrigins(
  reader: Reader,
  { run_id, source_id, blobKeys }: OriginsOf & { readonly blobKeys: readonly string[] },
): Promise<OriginRow[]> {
  return reader.run(origins, { run_id, source_id, keys: JSON.stringify(blobKeys) });
}
