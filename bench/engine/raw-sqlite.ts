/** Transitions per second of SQLite: a fenced UPDATE and the INSERT of its event. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { answer } from '../measure/child.ts';
import { noiseOf, type Reading, rate, spread } from '../measure/reading.ts';
import { measured } from '../measure/usage.ts';
import type { Store } from './pawl.ts';

interface Request {
  readonly store: Store;
  readonly seconds: number;
}

const items = 100_000;
const batch = 100;

await answer<Request>(measureSqlite);

async function measureSqlite({ store, seconds }: Request): Promise<Reading[]> {
  const database = new DatabaseSync(join(store.directory, 'raw.db'));
  prepareTables(database);
  const transit = transitionsOf(database);
  const commit = (count: number): void => {
    database.exec('BEGIN IMMEDIATE');
    for (let index = 0; index < count; index++) transit();
    database.exec('COMMIT');
  };
  const batched = await repeat(() => commit(batch), seconds);
  const single = await repeat(() => commit(1), seconds);
  return [
    rate('raw-batched', batched.times.length * batch, batched.usage, `${batch} in a commit`),
    rate('raw-single', single.times.length, single.usage, 'each its own commit'),
    spread('raw-commit', single.times, noiseOf(single.usage)),
  ];
}

function prepareTables(database: DatabaseSync): void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL,
    step TEXT NOT NULL, epoch INTEGER NOT NULL, moved_at INTEGER NOT NULL)`);
  database.exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL,
    kind TEXT NOT NULL, job_id INTEGER NOT NULL, item_id INTEGER NOT NULL, detail TEXT)`);
  database.exec('CREATE INDEX events_job ON events (job_id, seq)');
  database.exec(`WITH RECURSIVE ids(id) AS (
    SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${items})
    INSERT INTO items SELECT id, id % 100, 'enqueued', 0, 0 FROM ids`);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Cycles through the items, and moves the next one at each call. */
function transitionsOf(database: DatabaseSync): () => void {
  const update = database.prepare(`UPDATE items SET step = ?, epoch = epoch + 1, moved_at = ?
    WHERE id = ? AND epoch = ?`);
  const insert = database.prepare(`INSERT INTO events (at, kind, job_id, item_id, detail)
    VALUES (?, ?, ?, ?, ?)`);
  let moved = 0;
  return () => {
    const id = (moved % items) + 1;
    const epoch = Math.floor(moved / items);
    const now = Date.now();
    const step = epoch % 2 === 0 ? 'fetched' : 'chunked';
    if (update.run(step, now, id, epoch).changes !== 1) throw new Error('the fence did not match');
    insert.run(now, 'step_completed', id % 100, id, '{"duration_ms":0}');
    moved++;
  };
}

async function repeat(commit: () => void, seconds: number) {
  const times: number[] = [];
  const usage = await measured(() => {
    const end = performance.now() + seconds * 1000;
    for (let now = performance.now(); now < end; ) {
      const startedAt = now;
      commit();
      now = performance.now();
      times.push(now - startedAt);
    }
  }, undefined);
  return { times, usage };
}
