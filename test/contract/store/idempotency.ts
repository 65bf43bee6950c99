import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { pruneKeys, takeKey } from '../../../src/store/job/idempotency.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

const start = 1_000_000;
const later = start + limits.job.idempotencyTtlMs;

interface Taking {
  readonly caller?: string;
  readonly key?: string;
  readonly hash?: string;
  readonly jobKey: string;
  readonly now?: number;
}

function take(store: StoreFixture, taking: Taking): Promise<string | undefined> {
  const request = { caller: 'ann', key: 'k', hash: 'h', now: start, ...taking };
  return store.database.write((transaction) => takeKey(transaction, request));
}

export const idempotencyTests: readonly StoreTest[] = [
  [
    'a key belongs to the job that took it, for its caller, and for the same request',
    async (store) => {
      assert.equal(await take(store, { jobKey: 'one' }), undefined);
      assert.equal(await take(store, { jobKey: 'two' }), 'one');
      assert.equal(await take(store, { jobKey: 'three', caller: 'bob' }), undefined);
      assert.equal(await take(store, { jobKey: 'four', key: 'other' }), undefined);
      const isConflict = { code: 'idempotency_conflict' };
      await assert.rejects(take(store, { jobKey: 'five', hash: 'other' }), isConflict);
      assert.equal(await take(store, { jobKey: 'six', now: later - 1 }), 'one');
    },
  ],
  [
    'a key is free again after 24 hours, also for another request',
    async (store) => {
      await take(store, { jobKey: 'one' });
      assert.equal(await take(store, { jobKey: 'two', hash: 'other', now: later }), undefined);
      assert.equal(await take(store, { jobKey: 'three', hash: 'other', now: later + 1 }), 'two');
    },
  ],
  [
    'of many concurrent requests, one takes the key and all others find its job',
    async (store) => {
      const names = Array.from({ length: 40 }, (_, index) => `job-${index}`);
      const found = await Promise.all(names.map((jobKey) => take(store, { jobKey })));
      const takers = names.filter((_, index) => found[index] === undefined);
      assert.equal(takers.length, 1);
      assert.deepEqual(new Set(found), new Set([undefined, takers[0]]));
    },
  ],
  [
    'a refused submission takes no key',
    async (store) => {
      const failing = store.database.write(async (transaction) => {
        const request = { caller: 'ann', key: 'k', hash: 'h', jobKey: 'one', now: start };
        await takeKey(transaction, request);
        throw new Error('refused');
      });
      await assert.rejects(failing, /refused/);
      assert.equal(await take(store, { jobKey: 'two' }), undefined);
    },
  ],
  [
    'expired keys are removed, a bounded number at a time',
    async (store) => {
      for (const key of ['a', 'b', 'c']) await take(store, { jobKey: key, key });
      await take(store, { jobKey: 'd', key: 'd', now: later });
      const prune = (limit: number): Promise<number> =>
        store.database.write((transaction) => pruneKeys(transaction, { before: start, limit }));
      assert.deepEqual([await prune(2), await prune(2), await prune(2)], [2, 1, 0]);
      assert.equal(await take(store, { jobKey: 'e', key: 'd', now: later }), 'd');
    },
  ],
];
