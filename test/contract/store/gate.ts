import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { setGateLimits } from '../../../src/store/item/gates.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const gate = 'example.org';
const { domainConcurrencyMax: concurrency, domainIntervalMs: intervalMs } = limits.fetch;

async function held(store: StoreFixture): Promise<number> {
  return (await store.rows('SELECT id FROM items WHERE gate_held = 1')).length;
}

/** Everything that the gate lets through now, and as soon as its rate limit allows. */
async function claimAdmitted(store: StoreFixture) {
  const rows = await store.claim(100);
  store.world.skip(10 * intervalMs);
  await store.wake();
  return [...rows, ...(await store.claim(100))];
}

async function assertGoesOn(store: StoreFixture): Promise<void> {
  assert.equal(await held(store), concurrency);
  assert.equal(await store.withoutCause(), 0);
  store.world.skip(10 * intervalMs);
  await store.wake();
  assert.ok((await store.claim(100)).length > 0);
}

export const gateTests: readonly StoreTest[] = [
  [
    'no more items of a domain run concurrently than it has slots',
    async (store) => {
      await store.submit({ items: 10, gate });
      assert.equal(await held(store), concurrency);
      assert.equal((await claimAdmitted(store)).length, concurrency);
      assert.deepEqual(await store.claim(100), []);
      assert.equal((await store.queues()).lines, 10 - concurrency);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a domain blocks neither another domain nor items without a gate',
    async (store) => {
      await store.submit({ items: 10, gate });
      await store.submit({ items: 10, gate: 'other.org' });
      await store.submit({ items: 3 });
      assert.equal((await claimAdmitted(store)).length, 2 * concurrency + 3);
    },
  ],
  [
    'items of a domain begin with the delay of its rate limit',
    async (store) => {
      const start = store.world.now();
      await store.submit({ items: 10, gate });
      assert.equal((await store.claim(100)).length, 1);
      const timers = await store.rows<{ due_at: number }>('SELECT due_at FROM timers');
      assert.deepEqual(
        timers.map(({ due_at }) => due_at - start),
        [intervalMs],
      );
      store.world.skip(intervalMs);
      assert.equal(await store.wake(), 1);
      assert.equal((await store.claim(100)).length, 1);
    },
  ],
  [
    'a wait for the rate limit is not counted as a wait for a retry',
    async (store) => {
      const { key } = await store.submit({ items: 2, gate });
      assert.equal((await store.job(key)).items_waiting, 0);
      await claimAdmitted(store);
      assert.equal((await store.job(key)).items_waiting, 0);
    },
  ],
  [
    'an item past the fetch releases the slot, and the next is let in',
    async (store) => {
      const { ids } = await store.submit({ items: 4, gate });
      const [first] = await claimAdmitted(store);
      if (!first) throw new Error('one is let in');
      await store.commit(first, 'fetched');
      assert.equal((await store.item(ids[0])).waits_on, 'worker');
      await assertGoesOn(store);
    },
  ],
  ...(['fail', 'wait'] as const).map(
    (how): StoreTest => [
      `a slot is released when its holder ${how}s`,
      async (store) => {
        await store.submit({ items: 4, gate });
        const [first] = await claimAdmitted(store);
        if (!first) throw new Error('one is let in');
        await (how === 'fail' ? store.fail(first) : store.wait(first, 3_600_000));
        await assertGoesOn(store);
      },
    ],
  ),
  ...(['cancel', 'pause'] as const).map(
    (action): StoreTest => [
      `slots are released when their job gets a ${action}`,
      async (store) => {
        const first = await store.submit({ items: 4, gate });
        await store.submit({ items: 4, gate });
        await claimAdmitted(store);
        await store.commands[action]('ann', first.key);
        assert.equal((await store.queues()).lines, 4 - concurrency);
        await assertGoesOn(store);
      },
    ],
  ),
  [
    'a resumed item is at its gate again, unless it is past it',
    async (store) => {
      const { key, ids } = await store.submit({ items: 5, gate });
      const [first] = await claimAdmitted(store);
      if (!first) throw new Error('one is let in');
      await store.commit(first, 'fetched');
      await store.commands.pause('ann', key);
      await store.commands.resume('ann', key);
      assert.equal((await store.item(ids[0])).waits_on, 'turn');
      assert.equal((await store.queues()).lines, 4 - concurrency);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a returned item keeps its slot at the gate',
    async (store) => {
      await store.submit({ items: 4, gate });
      const [first] = await claimAdmitted(store);
      if (!first) throw new Error('one is let in');
      await store.report(first, { to: 'turn' });
      assert.equal(await held(store), concurrency);
      assert.deepEqual(
        (await store.claim(100)).map(({ id }) => id),
        [first.id],
      );
    },
  ],
  [
    'a woken retry is behind its gate again',
    async (store) => {
      const { ids } = await store.submit({ items: 4, gate });
      const rows = await claimAdmitted(store);
      for (const row of rows) await store.wait(row, 1000);
      await claimAdmitted(store);
      store.world.skip(1000);
      await store.wake();
      assert.deepEqual(await Promise.all(ids.map(async (id) => (await store.item(id)).waits_on)), [
        'gate',
        'gate',
        'worker',
        'worker',
      ]);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a gate with a raised limit lets in that many',
    async (store) => {
      await store.submit({ items: 10, gate });
      await store.database.write((transaction) =>
        setGateLimits(
          transaction,
          { name: gate, concurrency: 5, intervalMs: 0 },
          store.world.now(),
        ),
      );
      assert.equal(await held(store), 5);
    },
  ],
  [
    'all items of a domain get through in the end',
    async (store) => {
      const { key } = await store.submit({ items: 9, gate });
      for (let round = 0; round < 9; round++) {
        for (const row of await claimAdmitted(store)) await store.finish(row);
      }
      assert.equal((await store.job(key)).state, 'succeeded');
      assert.deepEqual((await store.queues()).lines, 0);
    },
  ],
];
