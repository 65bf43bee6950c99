/** Behaviour between processes, or between truly concurrent sessions. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { item } from '../../src/kernel/lifecycle/item.ts';
import { readSchemaVersion } from '../../src/store/driver/health.ts';
import { migrate, migrations } from '../../src/store/driver/migrate.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { PostgresStores } from '../support/postgres-stores.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { makeLatch } from '../support/test-world.ts';
import { until } from '../support/wait.ts';

const run = promisify(execFile);
const claimer = fileURLToPath(new URL('./store/claimer.ts', import.meta.url));

describe('SQLite between processes', () => {
  test('several processes that open a new file at once all find it ready', async (t) => {
    const path = join(temporaryDirectory(t), 'pawl.db');
    const processes = [1, 2, 3, 4].map(() => run(process.execPath, [claimer, path, 'open']));
    for (const { stdout } of await Promise.all(processes))
      assert.equal(stdout, `schema ${migrations.at(-1)?.version}\n`);
  });

  test('two processes that claim at once get every item, and none twice', async (t) => {
    const path = join(temporaryDirectory(t), 'pawl.db');
    await run(process.execPath, [claimer, path, 'submit', '300']);
    const claims = ['one', 'two'].map((worker) =>
      run(process.execPath, [claimer, path, 'claim', worker]),
    );
    const ids = (await Promise.all(claims)).flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
    assert.equal(ids.length, 300);
    assert.equal(new Set(ids).size, 300);
  });
});

describe('Postgres between sessions', () => {
  const stores = new PostgresStores();
  before(() => stores.start());
  after(() => stores.stop());

  test('sessions that migrate a new database at once all find it ready', async () => {
    const url = await stores.makeEmpty();
    const sessions = await Promise.all([1, 2, 3].map(() => openPostgres({ url })));
    const newest = migrations.at(-1)?.version;
    const versions = await Promise.all(
      sessions.map(async (session) => {
        await migrate(session, item);
        return readSchemaVersion(session);
      }),
    );
    assert.deepEqual(versions, [newest, newest, newest]);
    await Promise.all(sessions.map((session) => session.close()));
  });

  test('a transaction that lost to a deadlock is retried, and both happen', async (t) => {
    const store = await stores.open(t);
    const other = await store.openAnother?.();
    assert.ok(other);
    const rename = sql`UPDATE corpora SET created_at = created_at + 1 WHERE name = :name`;
    const add = sql`INSERT INTO corpora (name, created_at) VALUES (:name, 0)`;
    await store.database.write(async (transaction) => {
      for (const name of ['a', 'b']) await transaction.run(add, { name });
    });
    const latches = [makeLatch(), makeLatch()];
    let runs = 0;
    const cross = (database: typeof other, names: string[], own: number) =>
      database.write(async (transaction) => {
        runs++;
        await transaction.run(rename, { name: names[0] ?? '' });
        await transaction.sent();
        latches[own]?.open();
        await latches[1 - own]?.opened;
        await transaction.run(rename, { name: names[1] ?? '' });
      });
    await Promise.all([cross(store.database, ['a', 'b'], 0), cross(other, ['b', 'a'], 1)]);
    const rows = await store.rows<{ created_at: number }>('SELECT created_at FROM corpora');
    assert.deepEqual(
      rows.map(({ created_at }) => created_at),
      [2, 2],
    );
    assert.ok(runs >= 3, `${runs} runs: no deadlock happened`);
  });

  test('a job can be resumed after a pause that met an item being returned', async (t) => {
    const store = await stores.open(t);
    const job = await store.submit();
    const row = await store.claimOne();
    const handed = makeLatch();
    const mayCommit = makeLatch();
    const handing = store.database.write(async (transaction) => {
      await transaction.run(sql`UPDATE items SET waits_on = 'turn', worker = NULL,
        epoch = epoch + 1`);
      const turn = sql`INSERT INTO turns (rank, item_id) VALUES (:rank, :id)`;
      await transaction.run(turn, { rank: row.rank, id: row.id });
      await transaction.sent();
      handed.open();
      await mayCommit.opened;
    });
    await handed.opened;
    const pausing = store.commands.pause('ann', job.key);
    const isPaused = async (): Promise<boolean> => (await store.job(job.key)).state === 'paused';
    await until(isPaused, { what: 'the job to be paused' });
    // The item is skipped, not awaited, while another session moves it.
    assert.equal((await store.job(job.key)).sweep, 'pause');
    assert.equal((await store.item(row.id)).waits_on, 'worker');
    mayCommit.open();
    await handing;
    await store.world.until('the sweep to end', async () => {
      return (await store.job(job.key)).sweep === null;
    });
    await pausing;
    assert.equal((await store.item(row.id)).waits_on, 'person');
    assert.equal((await store.queues()).turns, 0);
    await store.commands.resume('ann', job.key);
    assert.equal((await store.claim(5)).length, 1);
  });

  test('8 sessions that commit at once leave one history without gaps', async (t) => {
    const store = await stores.open(t);
    const { key } = await store.submit({ items: 48 });
    const work = async (): Promise<void> => {
      for (;;) {
        const rows = await store.claim(2);
        if (rows.length === 0) return;
        for (const row of rows) await store.finish(row);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    const sequence = (await store.events()).map(({ seq }) => seq);
    assert.deepEqual(
      sequence,
      sequence.map((_, index) => index + 1),
    );
    assert.equal((await store.job(key)).state, 'succeeded');
    assert.equal((await store.job(key)).items_done, 48);
  });
});
