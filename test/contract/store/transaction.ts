import assert from 'node:assert/strict';
import type { Database, Transaction } from '../../../src/store/driver/database.ts';
import { sql } from '../../../src/store/driver/statement.ts';
import { sweepAlone } from '../../../src/store/driver/sweep-lock.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const add = sql`INSERT INTO corpora (name, created_at) VALUES (:name, 1)`;

const read = sql<{ name: string }>`SELECT name FROM corpora`;

async function names(store: StoreFixture): Promise<string[]> {
  const rows = await store.rows<{ name: string }>('SELECT name FROM corpora ORDER BY name');
  return rows.map(({ name }) => name);
}

export const transactionTests: readonly StoreTest[] = [
  [
    'a write is visible when it resolves, and its result is returned',
    async (store) => {
      const result = await store.database.write(async (transaction) => {
        await transaction.run(add, { name: 'a' });
        return 42;
      });
      assert.equal(result, 42);
      assert.deepEqual(await names(store), ['a']);
    },
  ],
  [
    'a write that throws leaves nothing behind, and rejects with the error',
    async (store) => {
      const thrown = new Error('no');
      const write = store.database.write(async (transaction) => {
        await transaction.run(add, { name: 'a' });
        throw thrown;
      });
      await assert.rejects(write, (error) => error === thrown);
      assert.deepEqual(await names(store), []);
    },
  ],
  [
    'a failed statement leaves nothing of its transaction behind',
    async (store) => {
      const write = store.database.write(async (transaction) => {
        await transaction.run(add, { name: 'a' });
        await transaction.run(add, { name: 'a' });
      });
      await assert.rejects(write, /unique/i);
      assert.deepEqual(await names(store), []);
      await store.database.write((transaction) => transaction.run(add, { name: 'b' }));
      assert.deepEqual(await names(store), ['b']);
    },
  ],
  [
    'a failed statement that nobody waited for is the error of what follows it, and of the commit',
    async (store) => {
      const follow = {
        nothing: async () => undefined,
        'a read': async (transaction) => transaction.run(read),
        'a wait': async (transaction) => transaction.sent(),
      } satisfies Record<string, (transaction: Transaction) => Promise<unknown>>;
      for (const [what, then] of Object.entries(follow)) {
        let isPast = false;
        const write = store.database.write(async (transaction) => {
          await transaction.run(add, { name: 'a' });
          await transaction.run(add, { name: 'a' });
          await then(transaction);
          isPast = what !== 'nothing';
        });
        await assert.rejects(write, /unique/i, what);
        assert.equal(isPast, false, what);
        assert.deepEqual(await names(store), []);
      }
    },
  ],
  [
    'writes of one turn in one commit are not affected by one that fails',
    async (store) => {
      const write = (name: string) =>
        store.database.write(async (transaction) => {
          await transaction.run(add, { name });
          if (name === 'bad') throw new Error('spoiled');
          return name;
        });
      const results = await Promise.allSettled(['a', 'bad', 'b', 'c'].map(write));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(await names(store), ['a', 'b', 'c']);
    },
  ],
  [
    'a transaction reads its own writes, and others do not before it ends',
    async (store) => {
      if (!store.openAnother) return;
      const other = await store.openAnother();
      const count = sql<{ count: number }>`SELECT COUNT(*) AS count FROM corpora`;
      await store.database.write(async (transaction) => {
        await transaction.run(add, { name: 'a' });
        assert.equal((await transaction.run(count))[0]?.count, 1);
        assert.equal((await other.run(count))[0]?.count, 0);
      });
      assert.equal((await other.run(count))[0]?.count, 1);
    },
  ],
  [
    'many concurrent writes all happen, each exactly once',
    async (store) => {
      const all = Array.from({ length: 300 }, (_, index) => `n${index}`);
      await Promise.all(
        all.map((name) => store.database.write((transaction) => transaction.run(add, { name }))),
      );
      assert.equal((await names(store)).length, 300);
    },
  ],
  [
    'of two sessions one sweeps at a time, and the other does not wait for it',
    async (store) => {
      const other = await store.openAnother?.();
      const swept: string[] = [];
      await sweepAlone(store.database, 'dust', async () => {
        swept.push('first');
        // An embedded store has one writer at a time, and needs no lock.
        if (other?.dialect.name !== 'postgres') return;
        await sweepAlone(other, 'dust', async () => swept.push('second'));
        await sweepAlone(other, 'ash', async () => swept.push('other'));
      });
      const expected = other?.dialect.name === 'postgres' ? ['first', 'other'] : ['first'];
      assert.deepEqual(swept, expected);
      await sweepAlone(other ?? store.database, 'dust', async () => swept.push('after'));
      assert.equal(swept.at(-1), 'after');
    },
  ],
  [
    'a sweep longer than the idle limit of a transaction keeps its lock',
    async (store) => {
      // An embedded store has no such lock.
      if (store.database.dialect.name !== 'postgres') return;
      const impatient: Database = Object.create(store.database);
      impatient.write = (work) =>
        store.database.write(async (transaction) => {
          await transaction.run({ text: 'SET LOCAL idle_in_transaction_session_timeout = 50' });
          return work(transaction);
        });
      const swept: string[] = [];
      await sweepAlone(impatient, 'dust', async () => {
        await store.rows('SELECT pg_sleep(0.3)');
        await sweepAlone(store.database, 'dust', async () => swept.push('second'));
        swept.push('first');
      });
      assert.deepEqual(swept, ['first']);
    },
  ],
];
