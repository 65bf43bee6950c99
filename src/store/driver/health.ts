/** Checks the store for `pawl doctor`. */
import type { Database } from './database.ts';
import { sql } from './statement.ts';

const quickCheck = sql<{ quick_check: string }>`PRAGMA quick_check(5)`;
const selectOne = sql<{ one: number }>`SELECT 1 AS one`;
const journalMode = sql<{ journal_mode: string }>`PRAGMA journal_mode`;
const synchronous = sql<{ synchronous: number }>`PRAGMA synchronous`;
const synchronousNormal = 1;
const version = sql<{ version: number }>`SELECT MAX(version) AS version FROM migrations`;

/** What is wrong with the store's pages; empty if nothing is. */
export async function findDamage(database: Database): Promise<string[]> {
  if (database.dialect.name === 'postgres') {
    await database.run(selectOne);
    return [];
  }
  const rows = await database.run(quickCheck);
  return rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
}

export interface Durability {
  readonly isDurable: boolean;
  readonly found: string;
}

/** Whether a commit is on disk when it returns. For Postgres, this is a server setting. */
export async function readDurability(database: Database): Promise<Durability> {
  if (database.dialect.name === 'postgres') {
    const setting = sql<{ synchronous_commit: string }>`SHOW synchronous_commit`;
    const [row] = await database.run(setting);
    const found = `synchronous_commit ${row?.synchronous_commit}`;
    return { isDurable: row?.synchronous_commit !== 'off', found };
  }
  const mode = (await database.run(journalMode))[0]?.journal_mode;
  const level = (await database.run(synchronous))[0]?.synchronous;
  // The log is flushed after every commit (`sqlite.ts`); this level concerns checkpoints.
  const isFlushed = level !== undefined && level >= synchronousNormal;
  const found = `journal ${mode}, ${isFlushed ? 'flushed after every commit' : 'not flushed'}`;
  return { isDurable: mode === 'wal' && isFlushed, found };
}

export async function readSchemaVersion(database: Database): Promise<number> {
  return (await database.run(version))[0]?.version ?? 0;
}
