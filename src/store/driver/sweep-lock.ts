/**
 * Of several processes on one Postgres, one sweeps at a time. The lock is held by an otherwise idle
 * transaction and ends with it, even after a crash. An embedded store has one writer anyway.
 */
import { limits } from '../../kernel/limits/limits.ts';
import type { Database } from './database.ts';
import { sql } from './statement.ts';

const tryLock = sql<{ held: boolean }>`
  SELECT pg_try_advisory_xact_lock(7301, hashtext(:name)) AS held`;

/** The transaction holds no row that others wait for, so it may idle for the length of a sweep. */
const mayIdle = sql`
  SET LOCAL idle_in_transaction_session_timeout = ${String(limits.loop.sweepMsMax)}`;

/** Undefined: another process is sweeping. */
export async function sweepAlone<T>(
  database: Database,
  name: string,
  sweep: () => Promise<T>,
): Promise<T | undefined> {
  if (database.dialect.name !== 'postgres') return sweep();
  return database.write(async (transaction) => {
    const [lock] = await transaction.run(tryLock, { name });
    if (!lock?.held) return undefined;
    await transaction.run(mayIdle);
    return sweep();
  });
}
