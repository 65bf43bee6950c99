/**
 * Responses that were paid for, by the hash of everything they depend on. They belong to no
 * document and no generation: the same request to the same model finds the response here, also
 * later and in another process.
 */
import { createHash } from 'node:crypto';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';

/** What a response depends on. */
export interface PaidRequest {
  /**
   * The step with its version: the version changes when the step processes the response
   * differently.
   */
  readonly step: string;
  /** With its parameters. */
  readonly model: string;
  readonly input: string;
}

export function keyOf({ step, model, input }: PaidRequest): string {
  return createHash('sha256').update(`${step}\0${model}\0${input}`).digest('base64url');
}

export interface ResultRow {
  readonly key: string;
  readonly value: Uint8Array;
  readonly tokens: number;
  /** Tokens of the response; 0 for vectors. */
  readonly tokens_out: number;
}

const among = sql<ResultRow>`
  SELECT key, value, tokens, tokens_out FROM results WHERE key {amongKeys}`;

export async function getResults(
  reader: Reader,
  keys: readonly string[],
): Promise<Map<string, ResultRow>> {
  const rows = await reader.run(among, { keys: JSON.stringify(keys) });
  return new Map(rows.map((row) => [row.key, row]));
}

const put = sqlRows({
  key: 'text',
  model: 'text',
  value: 'bytes',
  tokens: 'int',
  tokens_out: 'int',
  now: 'int',
})`
  INSERT INTO results (key, model, value, tokens, tokens_out, created_at)
  SELECT :key, :model, :value, :tokens, :tokens_out, :now {rows} WHERE 1 = 1
  ON CONFLICT (key) DO NOTHING`;

export async function putResults(
  transaction: Transaction,
  rows: readonly ResultRow[],
  { model, now }: { model: string; now: number },
): Promise<void> {
  // In key order, so that two commits cannot deadlock.
  const sorted = rows.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  await transaction.each(
    put,
    sorted.map((row) => ({ ...row, model, now })),
  );
}

const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM results`;
const prune = sql<{ key: string }>`
  DELETE FROM results WHERE key IN (
    SELECT key FROM results WHERE created_at < :before OR CAST(:excess AS {int}) > 0
    ORDER BY created_at LIMIT :limit)
  RETURNING key`;

/** Removes expired responses, and the oldest above the size limit, a bounded number at a time. */
export async function pruneResults(
  transaction: Transaction,
  { before, rowsMax, limit }: { before: number; rowsMax: number; limit: number },
): Promise<number> {
  const excess = ((await transaction.run(count))[0]?.count ?? 0) - rowsMax;
  const bound = excess > 0 ? Math.min(excess, limit) : limit;
  const rows = await transaction.run(prune, { before, excess, limit: bound });
  return rows.length;
}
