/** Where the raw bytes of a generation are. */
import type { Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';

export interface FetchRow {
  readonly generation_id: number;
  readonly blob_key: string;
  readonly media_type: string;
  readonly bytes: number;
}

const put = sql`
  INSERT INTO fetches (generation_id, blob_key, media_type, bytes)
  VALUES (:generation_id, :blob_key, :media_type, :bytes)
  ON CONFLICT (generation_id) DO UPDATE SET blob_key = excluded.blob_key,
    media_type = excluded.media_type, bytes = excluded.bytes`;
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
