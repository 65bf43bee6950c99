/** One of several processes on a SQLite file: `FILE open`, `FILE submit N`, `FILE claim NAME`. */
import { item } from '../../../src/kernel/item.ts';
import { claimItems } from '../../../src/store/claims.ts';
import { readSchemaVersion } from '../../../src/store/health.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { openSqlite } from '../../../src/store/sqlite.ts';
import { insertSubmission } from '../../../src/store/submit.ts';
import { registerWorker } from '../../../src/store/workers.ts';
import { realWorld } from '../../../src/world.ts';

const [path = '', action = '', argument = ''] = process.argv.slice(2);
const database = openSqlite({ path, world: realWorld() });
await migrate(database, item);
console.log(await act());
await database.close();

async function act(): Promise<string> {
  if (action === 'submit') return submit(Number(argument));
  if (action === 'claim') return claimAll(argument);
  return `schema ${await readSchemaVersion(database)}`;
}

async function submit(count: number): Promise<string> {
  const sources = Array.from({ length: count }, (_, index) => ({
    kind: 'inline' as const,
    source: `note-${index}`,
  }));
  const submission = { key: 'key', caller: 'ann', corpus: 'notes', priority: 0, force: false };
  await database.write((transaction) =>
    insertSubmission(transaction, { ...submission, sources, now: 1 }),
  );
  return 'submitted';
}

async function claimAll(worker: string): Promise<string> {
  const row = { id: worker, host: 'h', pid: process.pid, process_started: '1', beat_at: 1 };
  await database.write((transaction) => registerWorker(transaction, row));
  const ids: number[] = [];
  for (;;) {
    const rows = await database.write((transaction) =>
      claimItems(transaction, { worker, take: { count: 3 }, lifecycle: item, now: 1 }),
    );
    if (rows.length === 0) return JSON.stringify(ids);
    ids.push(...rows.map(({ id }) => id));
  }
}
