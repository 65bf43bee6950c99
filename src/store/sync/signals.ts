/** Signed messages that said that a source has changed. None counts twice. */
import type { Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const take = sql<{ key: string }>`
  INSERT INTO sync_signals (source_id, key, received_at) VALUES (:source_id, :key, :now)
  ON CONFLICT DO NOTHING RETURNING key`;

/** False: the source has received it before. */
export async function takeSignal(
  transaction: Transaction,
  signal: { readonly source_id: number; readonly key: string; readonly now: number },
): Promise<boolean> {
  return (await transaction.run(take, signal)).length > 0;
}

const purge = sql<{ key: string }>`
  DELETE FROM sync_signals WHERE (source_id, key) IN (
    SELECT source_id, key FROM sync_signals WHERE received_at <= :before LIMIT :limit)
  RETURNING key`;

/** Deletes a page of old ones. Returns how many. */
export async function purgeSignals(
  transaction: Transaction,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<number> {
  return (await transaction.run(purge, { before, limit })).length;
}
