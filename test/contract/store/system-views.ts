import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { listDomainStandings, listWorkerStandings } from '../../../src/store/crawl/domains.ts';
import { countJobsInInbox, listJobsInInbox } from '../../../src/store/item/inbox.ts';
import { countJobsByState } from '../../../src/store/job/views.ts';
import type { StoreTest } from '../../support/store-fixture.ts';

const gate = 'example.org';
const { domainConcurrencyMax: concurrency, domainIntervalMs: intervalMs } = limits.fetch;

export const standingTests: readonly StoreTest[] = [
  [
    'each worker is listed with its items, the busiest first',
    async (store) => {
      await store.submit({ items: 5 });
      await store.register('idle', 2);
      await store.claim(3);
      const standings = await listWorkerStandings(store.database);
      assert.deepEqual(
        standings.map(({ worker, items }) => [worker, items]),
        [
          ['worker', 3],
          ['idle', 0],
        ],
      );
      assert.equal(standings[1]?.beatAt, store.world.now());
    },
  ],
  [
    'a domain is listed for callers that read from it, with all items behind its gate',
    async (store) => {
      await store.submit({ items: 6, gate });
      await store.submit({ items: 2, gate: 'other.org', caller: 'bob' });
      const seenBy = (caller: string) => listDomainStandings(store.database, { caller, limit: 9 });
      const [domain, ...others] = await seenBy('ann');
      assert.deepEqual(others, []);
      assert.deepEqual(
        { ...domain, nextAt: 0 },
        {
          domain: gate,
          concurrency,
          intervalMs,
          nextAt: 0,
          held: concurrency,
          waiting: 6 - concurrency,
        },
      );
      assert.deepEqual(
        (await seenBy('bob')).map((row) => row.domain),
        ['other.org'],
      );
      assert.deepEqual(await seenBy('carl'), []);
    },
  ],
  [
    'a job is listed for the inbox while an item of it is there, and counted by its state',
    async (store) => {
      const filter = { caller: 'ann', limit: 9 };
      const job = await store.submit({ items: 2 });
      await store.fail(await store.claimOne());
      const other = await store.submit();
      const { database, commands } = store;
      const listed = async () => (await listJobsInInbox(database, filter)).map((row) => row.key);
      assert.deepEqual(await listed(), [job.key]);
      assert.equal(await countJobsInInbox(database, filter), 1);
      assert.deepEqual(await listJobsInInbox(database, { ...filter, caller: 'bob' }), []);
      assert.deepEqual(await listJobsInInbox(database, { ...filter, corpus: 'none' }), []);
      const counted = async () =>
        (await countJobsByState(database, { ...filter, corpus: undefined })).sort();
      assert.deepEqual(await counted(), [
        ['queued', 1],
        ['running', 1],
      ]);
      await commands.pause('ann', job.key);
      assert.equal(await countJobsInInbox(database, filter), 0, 'a paused job is counted as such');
      await commands.discardItems('ann', [job.ids[0] as number]);
      assert.deepEqual(await listed(), []);
      await commands.cancel('ann', other.key);
      assert.deepEqual(await counted(), [
        ['canceled', 1],
        ['paused', 1],
      ]);
    },
  ],
];
