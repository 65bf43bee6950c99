import assert from 'node:assert/strict';
import { countWithoutCause } from '../../../src/store/item/items.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

interface Plant {
  readonly what: string;
  /** Brings an item to the state from which its next event is then removed. */
  readonly prepare: (store: StoreFixture) => Promise<unknown>;
  readonly spoil: string;
}

async function leased(store: StoreFixture): Promise<unknown> {
  await store.submit();
  return store.claimOne();
}

async function asleep(store: StoreFixture): Promise<unknown> {
  await store.submit();
  return store.wait(await store.claimOne(), 1000);
}

async function paused(store: StoreFixture): Promise<unknown> {
  const { key } = await store.submit();
  return store.commands.pause('ann', key);
}

const plants: readonly Plant[] = [
  {
    what: 'an open item that waits on nothing',
    prepare: (store) => store.submit(),
    spoil: 'UPDATE items SET waits_on = NULL',
  },
  {
    what: 'an item that waits for its turn and is not in the queue',
    prepare: (store) => store.submit(),
    spoil: 'DELETE FROM turns',
  },
  {
    what: 'an item that is in the queue at another position than its own',
    prepare: (store) => store.submit(),
    spoil: 'UPDATE turns SET rank = rank + 1',
  },
  { what: 'a delayed item without a timer', prepare: asleep, spoil: 'DELETE FROM timers' },
  {
    what: 'a delayed item whose timer is set for another time',
    prepare: asleep,
    spoil: 'UPDATE timers SET due_at = due_at + 1',
  },
  { what: 'a lease whose worker is gone', prepare: leased, spoil: 'DELETE FROM workers' },
  { what: 'a lease without a claim', prepare: leased, spoil: 'DELETE FROM claims' },
  {
    what: 'a lease with only claims of other items',
    prepare: leased,
    spoil: "UPDATE claims SET items = '[4711]'",
  },
  {
    what: 'an item that waits for a person while its job is not paused',
    prepare: paused,
    spoil: "UPDATE jobs SET state = 'running'",
  },
  {
    what: 'an item at a gate that is not in its queue',
    prepare: (store) => store.submit({ items: 5, gate: 'g' }),
    spoil: 'DELETE FROM lines',
  },
  {
    what: 'a queue at a gate whose slots nobody holds',
    prepare: (store) => store.submit({ items: 5, gate: 'g' }),
    spoil: 'UPDATE items SET gate_held = 0',
  },
];

export const forwardCauseTests: readonly StoreTest[] = [
  ...plants.map(
    ({ what, prepare, spoil }): StoreTest => [
      `${what} is counted as stuck`,
      async (store) => {
        await prepare(store);
        assert.equal(await store.withoutCause(), 0);
        await store.database.write((transaction) => transaction.run({ text: spoil }));
        assert.ok((await store.withoutCause()) > 0);
        assert.equal(await countWithoutCause(store.database, 'open'), await store.withoutCause());
      },
    ],
  ),
  [
    'ended items need no next event',
    async (store) => {
      const { key } = await store.submit({ items: 3 });
      const [first, second] = await store.claim(2);
      if (!first || !second) throw new Error('two items are claimed');
      await store.finish(first);
      await store.fail(second);
      await store.commands.cancel('ann', key);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'items of ended jobs are not read by the frequent check',
    async (store) => {
      const { key } = await store.submit({ items: 3 });
      await store.commands.cancel('ann', key);
      const text = "UPDATE items SET step = 'enqueued'";
      await store.database.write((transaction) => transaction.run({ text }));
      assert.equal(await countWithoutCause(store.database, 'ever'), 3);
      assert.equal(await countWithoutCause(store.database, 'open'), 0);
    },
  ],
];
