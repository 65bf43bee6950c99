/** Cursors of log readers and sweeps: a name and a number. */
import type { Reader, Transaction } from '../driver/database.ts';
import { sql } from '../driver/statement.ts';

const get = sql<{ seq: number }>`SELECT seq FROM cursors WHERE name = :name`;
const set = sql`
  INSERT INTO cursors (name, seq) VALUES (:name, :seq)
  ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`;
const raise = sql`
  INSERT INTO cursors (name, seq) VALUES (:name, :seq)
  ON CONFLICT (name) DO UPDATE SET seq = {greatest}(cursors.seq, excluded.seq)`;
const forget = sql`DELETE FROM cursors WHERE name = :name`;

export interface Cursor {
  readonly name: string;
  readonly seq: number;
}

/** Undefined: not started. */
export async function readCursor(reader: Reader, name: string): Promise<number | undefined> {
  return (await reader.run(get, { name }))[0]?.seq;
}

export async function setCursor(transaction: Transaction, cursor: Cursor): Promise<void> {
  await transaction.run(set, { ...cursor });
}

/** Never moves back, even for a late writer. */
export async function raiseCursor(transaction: Transaction, cursor: Cursor): Promise<void> {
  await transaction.run(raise, { ...cursor });
}

export async function forgetCursor(transaction: Transaction, name: string): Promise<void> {
  await transaction.run(forget, { name });
}
