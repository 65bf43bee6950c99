/** Checks the store for `pawl doctor`. */
import type { Database } from './database.ts';
import { sql } from './statement.ts';

const quickCheck = sql<{ quick_check: string }>`PRAGMA quick_check(5)`;
const selectOne = sql<{ one: number }>`SELECT 1 AS one`;
const journalMode = sql<{ journal_mode: string }>`PRAGMA journal_mode`;
const synchronous = sql<{ synchronous: number }>`PRAGMA synchronous`;
const synchronousNormal = 1;
const tables = sql<{ name: string }>`SELECT name FROM sqlite_master WHERE name = 'migrations'`;
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

const sqliteBytes = sql<{ bytes: number }>`
  SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size`;
const postgresBytes = sql<{ bytes: number }>`
  SELECT pg_database_size(current_database()) AS bytes`;

/** The size of the whole store: documents, indexes, history. */
export async function readStoreBytes(database: Database): Promise<number> {
  const isPostgres = database.dialect.name === 'postgres';
  return (await database.run(isPostgres ? postgresBytes : sqliteBytes))[0]?.bytes ?? 0;
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

/** False for an SQLite file whose first process has died before it had made the tables. */
export async function hasSchema(database: Database): Promise<boolean> {
  return (await database.run(tables)).length > 0;
}

export async function readSchemaVersion(database: Database): Promise<number> {
  return (await database.run(version))[0]?.version ?? 0;
}
