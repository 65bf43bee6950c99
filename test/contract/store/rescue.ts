import assert from 'node:assert/strict';
import { Keeper } from '../../../src/engine/keeper.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { handBack } from '../../../src/store/intervention.ts';
import { beat, listWorkers } from '../../../src/store/workers.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

/** A worker takes an item, dies, and is found by another. */
async function dieOnce(store: StoreFixture, pid: number): Promise<void> {
  await store.register(`w${pid}`, pid);
  await store.claim(1, `w${pid}`);
  store.livingPids.delete(pid);
  await store.rescue();
}

/** The workers beside the one that every store begins with. */
async function others(store: StoreFixture): Promise<string[]> {
  const ids = (await listWorkers(store.database)).map(({ id }) => id);
  return ids.filter((id) => id !== 'worker').sort();
}

export const rescueTests: readonly StoreTest[] = [
  [
    'the leases of a process that has ended are taken at once, each with its crash remembered',
    async (store) => {
      const { ids } = await store.submit({ items: 2 });
      await store.register('dead', 7);
      await store.claim(2, 'dead');
      store.livingPids.delete(7);
      assert.equal(await store.rescue(), 2);
      const item = await store.item(ids[0]);
      assert.deepEqual(
        [item.waits_on, item.worker, item.crashes, item.epoch, item.attempt],
        ['turn', null, 1, 2, 0],
      );
      assert.deepEqual(await store.queues(), { turns: 2, timers: 0, lines: 0, claims: 0 });
      assert.deepEqual(await others(store), []);
      assert.deepEqual((await store.story()).slice(-2), [
        'lease_lost enqueued',
        'lease_lost enqueued',
      ]);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a worker of another machine is given up when its heart has been silent for too long',
    async (store) => {
      await store.submit();
      await store.register('far', 7, 'elsewhere');
      await store.claim(1, 'far');
      store.livingPids.delete(7);
      store.world.skip(limits.lease.ttlMs);
      assert.equal(await store.rescue(), 0);
      store.world.skip(1);
      assert.equal(await store.rescue(), 1);
    },
  ],
  [
    'a heartbeat keeps the leases',
    async (store) => {
      await store.submit();
      await store.register('far', 7, 'elsewhere');
      await store.claim(1, 'far');
      store.world.skip(limits.lease.ttlMs);
      const now = store.world.now();
      assert.equal(await store.database.write((t) => beat(t, 'far', now)), true);
      store.world.skip(limits.lease.ttlMs);
      assert.equal(await store.rescue(), 0);
      assert.equal(await store.database.write((t) => beat(t, 'nobody', now)), false);
    },
  ],
  [
    'a worker that is given up is fenced off',
    async (store) => {
      await store.submit();
      await store.register('slow', 7);
      const row = await store.claimOne('slow');
      store.livingPids.delete(7);
      await store.rescue();
      assert.equal(await store.fail(row), 'refused');
      assert.equal((await store.claimOne()).crashes, 1);
    },
  ],
  [
    'an item that three workers died on ends in the inbox, and its job settles',
    async (store) => {
      const { key, ids } = await store.submit();
      for (let pid = 1; pid < limits.lease.crashesMax; pid++) await dieOnce(store, pid);
      assert.equal((await store.item(ids[0])).waits_on, 'turn');
      await dieOnce(store, limits.lease.crashesMax);
      const item = await store.item(ids[0]);
      assert.deepEqual([item.step, item.waits_on], ['failed', null]);
      assert.equal(JSON.parse(item.error ?? '').code, 'crashed_repeatedly');
      const job = await store.job(key);
      assert.deepEqual([job.state, job.items_failed, job.failed_stage], ['failed', 1, 'scraping']);
      assert.deepEqual(await store.queues(), { turns: 0, timers: 0, lines: 0, claims: 0 });
      assert.deepEqual((await store.story()).slice(-2), ['item_failed fetched', 'job_failed']);
    },
  ],
  [
    'a person who retries such an item forgives its crashes',
    async (store) => {
      const { key, ids } = await store.submit();
      for (let pid = 1; pid <= limits.lease.crashesMax; pid++) await dieOnce(store, pid);
      await store.commands.retry('ann', key);
      assert.equal((await store.item(ids[0])).crashes, 0);
      await store.finish(await store.claimOne());
      assert.equal((await store.job(key)).state, 'succeeded');
    },
  ],
  [
    'an item that is blamed gives up its place at the gate',
    async (store) => {
      await store.submit({ items: 1, gate: 'example.org' });
      await store.submit({ items: 3, gate: 'example.org' });
      for (let pid = 1; pid <= limits.lease.crashesMax; pid++) await dieOnce(store, pid);
      const held = await store.rows('SELECT id FROM items WHERE gate_held = 1');
      assert.equal(held.length, limits.fetch.domainConcurrencyMax);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'rescue spares the living and the one who asks',
    async (store) => {
      await store.submit({ items: 2 });
      await store.register('alive', 7);
      await store.register('self', 8);
      await store.claim(1, 'alive');
      await store.claim(1, 'self');
      store.livingPids.delete(8);
      assert.equal(await store.rescue('self'), 0);
      assert.deepEqual(await others(store), ['alive', 'self']);
    },
  ],
  [
    'a worker that leaves in order leaves nothing: no lease, no claim, no row, no crash',
    async (store) => {
      const { ids } = await store.submit({ items: 2 });
      await store.register('leaving', 7);
      await store.claim(2, 'leaving');
      const { database, liveness, world } = store;
      const worker = 'leaving';
      const unused = {} as never;
      const options = { worker, database, liveness, world, ledger: unused, dispatcher: unused };
      await new Keeper(options).unregister();
      assert.deepEqual(await store.queues(), { turns: 2, timers: 0, lines: 0, claims: 0 });
      assert.deepEqual(await others(store), []);
      assert.equal((await store.item(ids[0])).crashes, 0);
    },
  ],
  [
    'a worker that was given up can claim nothing, and so nothing is lost with it',
    async (store) => {
      await store.submit();
      await store.register('zombie', 7);
      store.livingPids.delete(7);
      await store.rescue();
      await assert.rejects(store.claim(1, 'zombie'), { code: 'lease_lost' });
      assert.equal(await store.withoutCause(), 0);
      assert.equal((await store.claim(1)).length, 1);
    },
  ],
  [
    'a lease is handed back once, under its epoch alone',
    async (store) => {
      const { ids } = await store.submit();
      const row = await store.claimOne();
      const give = (epoch: number) =>
        store.database.write((transaction) => handBack(transaction, [{ id: row.id, epoch }]));
      await give(row.epoch + 1);
      assert.equal((await store.item(ids[0])).waits_on, 'worker');
      await give(row.epoch);
      await give(row.epoch);
      assert.equal((await store.item(ids[0])).waits_on, 'turn');
      assert.equal((await store.queues()).turns, 1);
    },
  ],
];
