/** Copies the database of an embedded store while other processes use it. */
import { backup, DatabaseSync } from 'node:sqlite';
import { limits } from '../../kernel/limits/limits.ts';

/**
 * All pages are copied in one step, and so under one read transaction: the copy is the state of one
 * moment. With several steps, each commit of another process would start the copy again.
 */
const pagesPerStep = 0x7fff_ffff;

export async function backupSqlite(path: string, copy: string): Promise<void> {
  const source = new DatabaseSync(path, { readOnly: true });
  try {
    source.exec(`PRAGMA busy_timeout = ${limits.store.busyTimeoutMs}`);
    await backup(source, copy, { rate: pagesPerStep });
  } finally {
    source.close();
  }
}
