import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { removeWorker, virtualTime } from '../../../src/store/item/workers.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const { headStart } = limits.fairness;

/** The callers of the claimed items, in order, one letter each. */
async function served(store: StoreFixture, count: number): Promise<string> {
  const rows = await store.claim(count);
  return rows.map(({ caller }) => caller[0]).join('');
}

export const fairnessTests: readonly StoreTest[] = [
  [
    'two callers that submit at the same time take turns',
    async (store) => {
      await store.submit({ caller: 'ann', items: 4 });
      await store.submit({ caller: 'bob', items: 4 });
      const order = await served(store, 8);
      for (let end = 1; end <= 8; end++) {
        const part = order.slice(0, end);
        const difference = part.split('a').length - part.split('b').length;
        assert.ok(Math.abs(difference) <= 1, order);
      }
    },
  ],
  [
    'a newcomer with a small job is served at once, despite a backlog of ten thousand',
    async (store) => {
      await store.submit({ caller: 'ann', items: 10_000 });
      await store.claim(500);
      await store.submit({ caller: 'bob', items: 3 });
      const order = await served(store, 10);
      assert.equal(order.split('b').length - 1, 3, order);
    },
  ],
  [
    'many small jobs of one caller get no more than one large job',
    async (store) => {
      for (let index = 0; index < 10; index++) await store.submit({ caller: 'ann', items: 2 });
      await store.submit({ caller: 'bob', items: 20 });
      const order = await served(store, 20);
      assert.equal(order.split('a').length - 1, 10, order);
    },
  ],
  [
    'priority is a head start of a bounded number of items, and no more',
    async (store) => {
      await store.submit({ caller: 'ann', items: headStart + 50 });
      await store.submit({ caller: 'bob', items: headStart + 50, priority: 1 });
      assert.equal(await served(store, 100), 'b'.repeat(100));
      const rest = await served(store, headStart);
      assert.ok(rest.endsWith('ab'.repeat(20)) || rest.endsWith('ba'.repeat(20)), rest.slice(-50));
    },
  ],
  [
    'virtual time advances with served items, and never moves back',
    async (store) => {
      await store.submit({ items: 10 });
      await store.claim(6);
      assert.equal(await virtualTime(store.database), 5);
      await store.submit({ caller: 'bob', items: 1, priority: 9 });
      await store.claim(1);
      assert.equal(await virtualTime(store.database), 5);
    },
  ],
  [
    'a restart resets no caller: one that was served before is not put behind a newcomer',
    async (store) => {
      await store.submit({ caller: 'ann', items: 200 });
      await store.claim(200);
      await store.database.write((transaction) => removeWorker(transaction, 'worker'));
      await store.register('next', 1001);
      await store.submit({ caller: 'ann', items: 20 });
      await store.submit({ caller: 'bob', items: 20 });
      const order = (await store.claim(20, 'next')).map(({ caller }) => caller).join(' ');
      assert.ok(order.includes('ann'), order);
    },
  ],
];
