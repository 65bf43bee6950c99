import assert from 'node:assert/strict';
import { LeaseHeartbeat } from '../../../src/engine/item/lease-heartbeat.ts';
import { leaseOf } from '../../../src/engine/item/ledger.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { lookForWork } from '../../../src/store/item/claims.ts';
import { handBack } from '../../../src/store/item/lost-leases.ts';
import { beat, listWorkers } from '../../../src/store/item/workers.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const { crashesMin, loneDeathsMax } = limits.suspect;

/** A worker takes something, dies, and is found by another. */
async function dieWith(
  store: StoreFixture,
  take: (worker: string) => Promise<unknown>,
): Promise<void> {
  const pid = 100;
  await store.register('mortal', pid);
  await take('mortal');
  store.livingPids.delete(pid);
  await store.rescue();
}

/** Makes suspects of the next items: workers that held all of them die. */
async function suspect(store: StoreFixture, count: number): Promise<void> {
  for (let death = 1; death <= crashesMin; death += 1) {
    await dieWith(store, (worker) => store.claim(count, worker));
  }
}

async function dieAlone(store: StoreFixture): Promise<void> {
  await dieWith(store, (worker) => store.claimSuspect(worker, loneDeathsMax));
}

/** Takes the next item from the first death in company to the last lone one. */
async function dieTillBlamed(store: StoreFixture): Promise<void> {
  await suspect(store, 1);
  for (let death = 1; death <= loneDeathsMax; death += 1) await dieAlone(store);
}

async function deathsOf(store: StoreFixture, id: number | undefined): Promise<number[]> {
  const { crashes, lone_deaths } = await store.item(id);
  return [crashes, lone_deaths];
}

/** The workers beside the one that every store starts with. */
async function others(store: StoreFixture): Promise<string[]> {
  const ids = (await listWorkers(store.database)).map(({ id }) => id);
  return ids.filter((id) => id !== 'worker').sort();
}

export const rescueTests: readonly StoreTest[] = [
  [
    'the leases of an ended process are taken immediately, each with its crash recorded',
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
    'a worker of another machine is given up when its heartbeat was silent for too long',
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
    'items that two workers died with wait separately, and are claimed alone',
    async (store) => {
      const { ids } = await store.submit({ items: 2 });
      await suspect(store, 2);
      assert.deepEqual([(await store.queues()).turns, await store.claim(2)], [0, []]);
      const work = { hasTurn: false, suspectLoneDeaths: 0, serviceQueues: new Set() };
      assert.deepEqual(await lookForWork(store.database), work);
      const claimed = [await store.claimSuspect(), await store.claimSuspect()];
      assert.deepEqual(
        claimed.map((rows) => rows.map(({ id }) => id)),
        ids.map((id) => [id]),
      );
      assert.deepEqual([await store.claimSuspect(), await store.withoutCause()], [[], 0]);
    },
  ],
  [
    'a suspect is taken by workers with more uptime, the more it was alone at deaths',
    async (store) => {
      const { ids } = await store.submit();
      await suspect(store, 1);
      await dieAlone(store);
      assert.deepEqual(await deathsOf(store, ids[0]), [crashesMin + 1, 1]);
      assert.deepEqual(await store.claimSuspect('worker', 0), []);
      assert.equal((await store.claimSuspect('worker', 1)).length, 1);
    },
  ],
  [
    'a committed step clears a suspect, and it runs beside others again',
    async (store) => {
      const { ids } = await store.submit();
      await suspect(store, 1);
      await dieAlone(store);
      const [row] = await store.claimSuspect('worker', 1);
      assert.ok(row);
      const progress = store.lifecycle.reach(row.progress, 'fetched');
      assert.equal(await store.report(row, { to: 'advance', progress }), 'applied');
      assert.deepEqual(await deathsOf(store, ids[0]), [0, 0]);
      await store.report({ ...row, progress }, { to: 'turn' });
      assert.equal((await store.claim(1)).length, 1);
    },
  ],
  [
    'a step that is committed with the end of a lease clears the item as well',
    async (store) => {
      const { ids } = await store.submit();
      await suspect(store, 1);
      const [row] = await store.claimSuspect();
      assert.ok(row);
      const progress = store.lifecycle.reach(row.progress, 'fetched');
      const lease = leaseOf(row, 'worker');
      const verdicts = await store.apply([
        { lease, expect: row.progress, move: { to: 'advance', progress }, events: [] },
        { lease, expect: progress, move: { to: 'turn' }, events: [] },
      ]);
      assert.deepEqual(verdicts, ['applied', 'applied']);
      assert.deepEqual(await deathsOf(store, ids[0]), [0, 0]);
    },
  ],
  [
    'a death with a suspect and other items counts for the suspect, and blames nobody',
    async (store) => {
      const { ids } = await store.submit();
      await suspect(store, 1);
      const { ids: others } = await store.submit({ items: 2 });
      for (let death = 1; death <= 2 * loneDeathsMax; death += 1) {
        await dieWith(store, async (worker) => {
          await store.claimSuspect(worker);
          await store.claim(2, worker);
        });
      }
      assert.deepEqual(await deathsOf(store, ids[0]), [crashesMin + 2 * loneDeathsMax, 0]);
      assert.deepEqual(await deathsOf(store, others[0]), [0, 0]);
    },
  ],
  [
    'a suspect that returns to the queue is separated when it is claimed',
    async (store) => {
      const { ids } = await store.submit({ items: 2 });
      await suspect(store, 1);
      const [row] = await store.claimSuspect();
      assert.ok(row);
      await store.report(row, { to: 'turn' });
      assert.equal((await store.queues()).turns, 2);
      assert.deepEqual(
        (await store.claim(2)).map(({ id }) => id),
        [ids[1]],
      );
      assert.equal(await store.withoutCause(), 0);
      assert.equal((await store.claimSuspect())[0]?.id, ids[0]);
    },
  ],
  [
    'a suspect leaves with its job, and returns as one',
    async (store) => {
      const { key, caller } = await store.submit();
      await suspect(store, 1);
      await store.commands.pause(caller, key);
      assert.deepEqual(await store.claimSuspect(), []);
      await store.commands.resume(caller, key);
      assert.deepEqual([await store.claim(1), await store.withoutCause()], [[], 0]);
      await store.commands.cancel(caller, key);
      assert.deepEqual([await store.claimSuspect(), await store.withoutCause()], [[], 0]);
    },
  ],
  [
    'an item that was alone at three deaths ends in the inbox, and its job is updated',
    async (store) => {
      const { key, ids } = await store.submit();
      await suspect(store, 1);
      for (let death = 1; death < loneDeathsMax; death += 1) await dieAlone(store);
      assert.equal((await store.item(ids[0])).waits_on, 'turn');
      await dieAlone(store);
      const item = await store.item(ids[0]);
      assert.deepEqual([item.step, item.waits_on], ['failed', null]);
      const { code, message } = JSON.parse(item.error ?? '{}');
      assert.equal(code, 'crashed_repeatedly');
      assert.match(message, /^5 workers died while they held this item; 3 of them held no other$/);
      const job = await store.job(key);
      assert.deepEqual([job.state, job.items_failed, job.failed_stage], ['failed', 1, 'scraping']);
      assert.deepEqual(await store.queues(), { turns: 0, timers: 0, lines: 0, claims: 0 });
      assert.deepEqual((await store.story()).slice(-2), ['item_failed fetched', 'job_failed']);
    },
  ],
  [
    'a retry of such an item by a person clears its crashes',
    async (store) => {
      const { key, ids } = await store.submit();
      await dieTillBlamed(store);
      await store.commands.retry('ann', key);
      assert.deepEqual(await deathsOf(store, ids[0]), [0, 0]);
      await store.finish(await store.claimOne());
      assert.equal((await store.job(key)).state, 'succeeded');
    },
  ],
  [
    'a blamed item releases its slot at the gate',
    async (store) => {
      await store.submit({ items: 1, gate: 'example.org' });
      await store.submit({ items: 3, gate: 'example.org' });
      await dieTillBlamed(store);
      const held = await store.rows('SELECT id FROM items WHERE gate_held = 1');
      assert.equal(held.length, limits.fetch.domainConcurrencyMax);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'rescue spares live workers and the caller',
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
    'a worker that stops gracefully leaves nothing: no lease, no claim, no row, no crash',
    async (store) => {
      const { ids } = await store.submit({ items: 2 });
      await store.register('leaving', 7);
      await store.claim(2, 'leaving');
      const { database, liveness, world } = store;
      const worker = 'leaving';
      const unused = {} as never;
      const options = { worker, database, liveness, world, ledger: unused, dispatcher: unused };
      await new LeaseHeartbeat(options).unregister();
      assert.deepEqual(await store.queues(), { turns: 2, timers: 0, lines: 0, claims: 0 });
      assert.deepEqual(await others(store), []);
      assert.equal((await store.item(ids[0])).crashes, 0);
    },
  ],
  [
    'a worker that was given up can claim nothing, so nothing is lost with it',
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
    'a lease is returned once, under its epoch alone',
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
