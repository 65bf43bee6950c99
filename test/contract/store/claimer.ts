/** One of several processes on a SQLite file: `FILE open`, `FILE submit N`, `FILE claim NAME`. */

import { realWorld } from '../../../src/app/world.ts';
import { item } from '../../../src/kernel/lifecycle/item.ts';
import { readSchemaVersion } from '../../../src/store/driver/health.ts';
import { migrate } from '../../../src/store/driver/migrate.ts';
import { openSqlite } from '../../../src/store/driver/sqlite.ts';
import { claimItems } from '../../../src/store/item/claims.ts';
import { registerWorker } from '../../../src/store/item/workers.ts';
import { insertSubmission } from '../../../src/store/job/submit.ts';

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
