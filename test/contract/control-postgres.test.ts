/** Stopping a large running job: at the first request, and without a deadlock. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { item } from '../../src/kernel/lifecycle/item.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { migrate } from '../../src/store/driver/migrate.ts';
import { openPostgres } from '../../src/store/driver/postgres.ts';
import {
  type ControlScene,
  countDeadlocks,
  openControlScene,
  settled,
} from '../support/control-scene.ts';
import { patience } from '../support/patience.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';

const items = 5000;
const tries = 3;

describe('a running job of 5,000 items in two engines on Postgres', {
  timeout: patience.testMs,
}, () => {
  let server: Postgres;
  before(async () => {
    server = await startPostgres({ durable: false });
  });
  after(() => server.stop());

  async function play(run: (scene: ControlScene, database: Database) => Promise<void>) {
    const url = await server.createDatabase();
    const databases = await Promise.all([1, 2].map(() => openPostgres({ url })));
    const [database] = databases as [Database];
    await migrate(database, item);
    const scene = await openControlScene(databases);
    try {
      await run(scene, database);
    } finally {
      await scene.stop();
    }
    // A transaction that lost to a deadlock is retried, so only the count shows it.
    assert.equal(await countDeadlocks(database), 0, 'deadlocks');
    assert.deepEqual(scene.errors, []);
    await Promise.all(databases.map((each) => each.close()));
  }

  test('is canceled at the first request, and the receipt stays true', async () => {
    await play(async ({ engines, submit, untilDone }, database) => {
      for (let trial = 0; trial < tries; trial++) {
        const key = await submit(items);
        await untilDone(key, 100);
        const receipt = await engines[trial % 2]?.commands.cancel('ann', key);
        const { row, ended, waiting, queued, withoutCause } = await settled(database, key);
        assert.equal(row.state, 'canceled');
        assert.deepEqual(waiting, {});
        assert.deepEqual([queued, withoutCause], [0, 0]);
        const { itemsDone, itemsCanceled, itemsFailed } = receipt ?? {};
        assert.deepEqual([itemsDone, itemsFailed], [ended.done, ended.failed ?? 0]);
        assert.equal(itemsCanceled, ended.canceled);
        assert.deepEqual([row.items_done, row.items_canceled], [itemsDone, itemsCanceled]);
        assert.equal(row.items_waiting, 0);
      }
    });
  });

  test('is paused at the first request, and resume returns every item', async () => {
    await play(async ({ engines, submit, untilDone }, database) => {
      const key = await submit(items);
      for (let trial = 0; trial < tries; trial++) {
        await untilDone(key, 100 * (trial + 1));
        await engines[trial % 2]?.commands.pause('ann', key);
        const { row, ended, waiting, queued, withoutCause } = await settled(database, key);
        assert.equal(row.state, 'paused');
        assert.deepEqual([queued, withoutCause, row.items_waiting], [0, 0, 0]);
        assert.deepEqual(waiting, { person: items - (ended.done ?? 0) });
        assert.equal(row.items_done, ended.done);
        await engines[(trial + 1) % 2]?.commands.resume('ann', key);
        const resumed = await settled(database, key);
        assert.equal(resumed.waiting.person, undefined);
        assert.equal(resumed.withoutCause, 0);
        const open = Object.values(resumed.waiting).reduce((sum, count) => sum + count, 0);
        assert.equal(open + (resumed.ended.done ?? 0), items);
      }
    });
  });
});
