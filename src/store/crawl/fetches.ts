/** Where the raw bytes of a generation are, and which bytes and rows nobody needs any more. */
import { place } from '../../kernel/lifecycle/item-wait.ts';
import { readCursor, setCursor } from '../delivery/cursors.ts';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

export interface FetchRow {
  readonly generation_id: number;
  readonly blob_key: string;
  readonly media_type: string;
  readonly bytes: number;
  /** The encoding of the bytes where it is certain; null for what is no text, or says nothing. */
  readonly charset: string | null;
  /** The bytes themselves where they are few; null where a blob has them. */
  readonly body: Uint8Array | null;
}

const put = sql`
  INSERT INTO fetches (generation_id, blob_key, media_type, bytes, charset, body)
  VALUES (:generation_id, :blob_key, :media_type, :bytes, :charset, :body)
  ON CONFLICT (generation_id) DO UPDATE SET blob_key = excluded.blob_key,
    media_type = excluded.media_type, bytes = excluded.bytes, charset = excluded.charset,
    body = excluded.body`;
const get = sql<FetchRow>`SELECT * FROM fetches WHERE generation_id = :generation_id`;

export async function writeFetch(transaction: Transaction, row: FetchRow): Promise<void> {
  await transaction.run(put, { ...row });
}

export async function getFetch(
  reader: Reader,
  generationId: number,
): Promise<FetchRow | undefined> {
  return (await reader.run(get, { generation_id: generationId }))[0];
}

/** An item that failed or was canceled may be retried, and then needs what it was made of. */
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
    RETURNING ${id} AS id`,
});
const sweeps = [
  sweepOf('fetches', { id: 'generation_id', kept: '=' }),
  // What came with a submission that found nothing new is kept as long as what it found.
  sweepOf('inputs', { id: 'item_id', kept: '<=' }),
];

/**
 * Forgets what was fetched by items, or came with them, that are done and whose generation is not
 * the current one: they found nothing new, or were replaced or deleted. Looks at the rows after a
 * place, and moves the place on; at the end it begins anew. Returns how many rows went.
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

const used = sql<{ blob_key: string }>`
  SELECT DISTINCT blob_key FROM fetches WHERE blob_key {amongKeys}`;
/** An upload is its item's only source until the item is done. */
const uploaded = sql<{ body: string }>`
  SELECT DISTINCT inputs.body FROM inputs JOIN items ON items.id = inputs.item_id
  WHERE inputs.kind = 'blob' AND inputs.body {amongKeys} AND items.step <> '${place.done}'`;
/** What batch tasks brought back: whole, and line by line until each item has taken its own. */
const outputs = sql<{ output_key: string }>`
  SELECT DISTINCT output_key FROM batch_tasks WHERE output_key {amongKeys}`;
const answers = sql<{ result_key: string }>`
  SELECT DISTINCT result_key FROM batch_lines WHERE result_key {amongKeys}`;

/**
 * Those of the blobs that something refers to. Whatever else comes to keep bytes as blobs is to be
 * asked here, or its bytes are swept.
 */
export async function usedBlobs(
  reader: Reader,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const named = { keys: JSON.stringify(keys) };
  const fetched = await reader.run(used, named);
  const inputs = await reader.run(uploaded, named);
  const written = await reader.run(outputs, named);
  const brought = await reader.run(answers, named);
  return new Set([
    ...fetched.map(({ blob_key }) => blob_key),
    ...inputs.map(({ body }) => body),
    ...written.map(({ output_key }) => output_key),
    ...brought.map(({ result_key }) => result_key),
  ]);
}

type Broom = 'fetches' | 'inputs' | 'blobs';

/** How far a broom has come: kept, so that many short runs together sweep everything. */
export async function readPlace(reader: Reader, broom: Broom): Promise<number> {
  return (await readCursor(reader, `sweep:${broom}`)) ?? 0;
}

export async function writePlace(
  transaction: Transaction,
  broom: Broom,
  place: number,
): Promise<void> {
  await setCursor(transaction, { name: `sweep:${broom}`, seq: place });
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
