/** Cursors of log readers and sweeps: a name and a number. */
import type { Reader } from '../driver/database.ts';
import { write } from '../driver/query.ts';
import { sql } from '../driver/statement.ts';

const get = sql<{ seq: number }>`SELECT seq FROM cursors WHERE name = :name`;

export interface Cursor {
  readonly name: string;
  readonly seq: number;
}

/** Undefined: not started. */
export async function readCursor(reader: Reader, name: string): Promise<number | undefined> {
  return (await reader.run(get, { name }))[0]?.seq;
}

export const setCursor = write<Cursor>`
  INSERT INTO cursors (name, seq) VALUES (:name, :seq)
  ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`;

/** Never moves back, even for a late writer. */
export const raiseCursor = write<Cursor>`
  INSERT INTO cursors (name, seq) VALUES (:name, :seq)
  ON CONFLICT (name) DO UPDATE SET seq = {greatest}(cursors.seq, excluded.seq)`;

export const forgetCursor = write<string>`DELETE FROM cursors WHERE name = :name`;
