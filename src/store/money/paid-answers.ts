/**
 * Answers that were paid for, by the hash of all that they depend on. They belong to no document
 * and to no generation: whoever asks the same of the same model again, later or elsewhere, finds
 * the answer here.
 */
import { createHash } from 'node:crypto';
import type { Reader, Transaction } from '../driver/database.ts';
import { sql, sqlRows } from '../driver/statement.ts';

/** What an answer depends on. */
export interface Question {
  /** The step with its version: it changes when the step makes something else of the answer. */
  readonly step: string;
  /** With its parameters. */
  readonly model: string;
  readonly input: string;
}

export function keyOf({ step, model, input }: Question): string {
  return createHash('sha256').update(`${step}\0${model}\0${input}`).digest('base64url');
}

export interface ResultRow {
  readonly key: string;
  readonly value: Uint8Array;
  readonly tokens: number;
  /** Those of the answer; vectors have none. */
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
  // In the order of their keys, so that two commits never wait for each other in a circle.
  const sorted = rows.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  await transaction.each(
    put,
    sorted.map(({ key, value, tokens, tokens_out }) => ({
      key,
      model,
      value,
      tokens,
      tokens_out,
      now,
    })),
  );
}

const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM results`;
const prune = sql<{ key: string }>`
  DELETE FROM results WHERE key IN (
    SELECT key FROM results WHERE created_at < :before OR CAST(:excess AS {int}) > 0
    ORDER BY created_at LIMIT :limit)
  RETURNING key`;

/** Removes what is too old, and the oldest of what is too much, a bounded number at a time. */
export async function pruneResults(
  transaction: Transaction,
  { before, rowsMax, limit }: { before: number; rowsMax: number; limit: number },
): Promise<number> {
  const excess = ((await transaction.run(count))[0]?.count ?? 0) - rowsMax;
  const bound = excess > 0 ? Math.min(excess, limit) : limit;
  const rows = await transaction.run(prune, { before, excess, limit: bound });
  return rows.length;
}
