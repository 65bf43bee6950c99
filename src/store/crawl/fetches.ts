/** Locates the raw bytes of a generation, and finds bytes and rows that are no longer needed. */
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { readCursor, setCursor } from '../delivery/cursors.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { unpack } from '../driver/packing.ts';
import { first, write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

export interface FetchRow {
  readonly generation_id: number;
  readonly blob_key: string;
  readonly media_type: string;
  readonly bytes: number;
  /** The encoding of the bytes if it is certain; null for binary content or an unknown encoding. */
  readonly charset: string | null;
  /** The bytes themselves if they are few; null if they are packed or in a blob. */
  readonly body: Uint8Array | null;
  readonly packed: Uint8Array | null;
}

export const writeFetch = write<FetchRow>`
  INSERT INTO fetches (generation_id, blob_key, media_type, bytes, charset, body, packed)
  VALUES (:generation_id, :blob_key, :media_type, :bytes, :charset, :body, :packed)
  ON CONFLICT (generation_id) DO UPDATE SET blob_key = excluded.blob_key,
    media_type = excluded.media_type, bytes = excluded.bytes, charset = excluded.charset,
    body = excluded.body, packed = excluded.packed`;

export const getFetch = first<number, FetchRow>`
  SELECT * FROM fetches WHERE generation_id = :generation_id`;

/** Undefined: they are in a blob. */
export function bytesInRow({ body, packed }: FetchRow): Uint8Array | undefined {
  return packed ? unpack(packed) : (body ?? undefined);
}

/** The bytes of one generation are those of another one, too. */
export const copyFetch = write<{ readonly from: number; readonly to: number }>`
  INSERT INTO fetches (generation_id, blob_key, media_type, bytes, charset, body, packed)
  SELECT CAST(:to AS {int}), blob_key, media_type, bytes, charset, body, packed
  FROM fetches WHERE generation_id = :from
  ON CONFLICT (generation_id) DO NOTHING`;

/** A failed or canceled item may be retried, and then needs its source. */
const sweepOf = (
  table: 'fetches' | 'inputs',
  { id, kept }: { id: 'generation_id' | 'item_id'; kept: '=' | '<=' },
) => ({
  table,
  page: sql<{ id: number }>`
    SELECT ${id} AS id FROM ${table} WHERE ${id} > :after ORDER BY ${id} LIMIT :limit`,
  prune: sql<{ id: number }>`
    DELETE FROM ${table} WHERE ${id} {amongIds}
      AND EXISTS (SELECT 1 FROM items
        WHERE items.id = ${table}.${id} AND items.step = '${place.done}')
      AND NOT EXISTS (
        SELECT 1 FROM items JOIN documents ON documents.id = items.document_id
        WHERE items.id = ${table}.${id} AND documents.generation_id ${kept} items.id)
      AND NOT EXISTS (SELECT 1 FROM removed_documents
        WHERE removed_documents.generation_id = ${table}.${id})
    RETURNING ${id} AS id`,
});
const sweeps = [
  sweepOf('fetches', { id: 'generation_id', kept: '=' }),
  // Inputs of a submission that found nothing new are kept as long as the matching content.
  sweepOf('inputs', { id: 'item_id', kept: '<=' }),
];

/**
 * Removes fetches and inputs of done items whose generation is not the current one: unchanged,
 * replaced or deleted. Reads the rows after a cursor and advances it; at the end it starts over.
 * Returns the number of rows removed.
 */
export async function pruneFetches(transaction: Transaction, limit: number): Promise<number> {
  let pruned = 0;
  for (const { table, page, prune } of sweeps) {
    const after = await readPlace(transaction, table);
    const ids = (await transaction.run(page, { after, limit })).map(({ id }) => id);
    const next = ids.length < limit ? 0 : (ids.at(-1) ?? 0);
    if (next !== after) await writePlace(transaction, table, next);
    if (ids.length === 0) continue;
    pruned += (await transaction.run(prune, { ids: JSON.stringify(ids) })).length;
  }
  return pruned;
}

/** Every new use of blobs must be added here, or its bytes are swept. */
const uses = [
  sql<{ key: string }>`SELECT DISTINCT blob_key AS key FROM fetches WHERE blob_key {amongKeys}`,
  // An upload is its item's only source until the item is done.
  sql<{ key: string }>`
    SELECT DISTINCT inputs.body AS key FROM inputs JOIN items ON items.id = inputs.item_id
    WHERE inputs.kind = 'blob' AND inputs.body {amongKeys} AND items.step <> '${place.done}'`,
  // Content that a listing has read, until its run submits it.
  sql<{ key: string }>`
    SELECT DISTINCT digest AS key FROM sync_changes
    WHERE is_stored = 1 AND is_applied = 0 AND digest {amongKeys}`,
  // Outputs of batch tasks: whole, and by line until each item has used its own.
  sql<{ key: string }>`
    SELECT DISTINCT output_key AS key FROM batch_tasks WHERE output_key {amongKeys}`,
  sql<{ key: string }>`
    SELECT DISTINCT result_key AS key FROM batch_lines WHERE result_key {amongKeys}`,
];

/** The blobs that something refers to. */
export async function usedBlobs(
  reader: Reader,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  if (keys.length === 0) return used;
  for (const use of uses) {
    for (const { key } of await reader.run(use, { keys: JSON.stringify(keys) })) used.add(key);
  }
  return used;
}

type SweepCursor = 'fetches' | 'inputs' | 'blobs';

/** The cursor of a sweep, stored so that many short runs together sweep everything. */
export async function readPlace(reader: Reader, cursor: SweepCursor): Promise<number> {
  return (await readCursor(reader, `sweep:${cursor}`)) ?? 0;
}

export async function writePlace(
  transaction: Transaction,
  cursor: SweepCursor,
  place: number,
): Promise<void> {
  await setCursor(transaction, { name: `sweep:${cursor}`, seq: place });
}

const sameBytes = sql<{ source: string; blob_key: string }>`
  SELECT documents.source, fetches.blob_key FROM documents
  JOIN fetches ON fetches.generation_id = documents.generation_id
  WHERE documents.corpus = :corpus AND documents.caller = :caller AND fetches.blob_key {amongKeys}
  ORDER BY documents.source`;

/** The documents of a corpus whose current content was made of any of these bytes. */
export function listSameBytes(
  reader: Reader,
  filter: { caller: string; corpus: string; blobKeys: readonly string[] },
): Promise<{ source: string; blob_key: string }[]> {
  const { caller, corpus, blobKeys } = filter;
  return reader.run(sameBytes, { caller, corpus, keys: JSON.stringify(blobKeys) });
}
