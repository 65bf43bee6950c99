import assert from 'node:assert/strict';
import type { StageState } from '../../../src/kernel/lifecycle/stage.ts';
import type { Reader } from '../../../src/store/driver/database.ts';
import { findJobs } from '../../../src/store/item/inbox.ts';
import { actionsOfJob, isPartialJob, listJobs, statusesOf } from '../../../src/store/job/jobs.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

async function status(store: StoreFixture, key: string): Promise<StageState> {
  const [found] = await statusesOf(store.database, [await store.job(key)]);
  assert.ok(found);
  return found;
}

export const jobTests: readonly StoreTest[] = [
  [
    'a job offers exactly the actions that its commands accept',
    async (store) => {
      const done = await store.submit();
      await store.finish(await store.claimOne());
      assert.deepEqual(actionsOfJob(await store.job(done.key)), []);
      const refused = { code: 'action_not_allowed' };
      await assert.rejects(store.commands.retry(done.caller, done.key), refused);
      const failed = await store.submit();
      await store.fail(await store.claimOne());
      assert.deepEqual(actionsOfJob(await store.job(failed.key)), ['retry']);
      await assert.rejects(store.commands.pause(failed.caller, failed.key), refused);
      assert.equal(await store.commands.retry(failed.caller, failed.key), 1);
      assert.deepEqual(actionsOfJob(await store.job(failed.key)), ['cancel', 'pause']);
    },
  ],
  [
    'the status of a job with one item follows its steps',
    async (store) => {
      const { key } = await store.submit();
      assert.equal(await status(store, key), 'pending');
      let row = await store.claimOne();
      const expected: readonly (readonly [string, StageState])[] = [
        ['fetched', 'scraping'],
        ['content_extracted', 'chunking'],
        ['embedded', 'chunking'],
        ['chunked', 'embedding'],
        ['entity_extracted', 'embedding'],
        ['persisted', 'embedding'],
        ['indexed', 'embedding'],
        ['done', 'done'],
      ];
      assert.equal(await status(store, key), 'scraping');
      for (const [step, stage] of expected) {
        row = await store.commit(row, step);
        assert.equal(await status(store, key), stage, step);
      }
    },
  ],
  [
    'the status of a job with many items is the earliest stage of an unfinished one',
    async (store) => {
      const { key } = await store.submit({ items: 3 });
      const [first, second, third] = await store.claim(3);
      if (!first || !second || !third) throw new Error('three items are claimed');
      await store.finish(first);
      const toBranches = ['fetched', 'content_extracted', 'chunked'] as const;
      await store.commit(second, ...toBranches);
      assert.equal(await status(store, key), 'scraping');
      const reached = await store.commit(third, 'fetched', 'content_extracted');
      assert.equal(await status(store, key), 'chunking');
      await store.fail(reached);
      assert.equal(await status(store, key), 'embedding');
    },
  ],
  [
    'a failed job is failed, with the stage and the error of its first failed item',
    async (store) => {
      const { key } = await store.submit({ items: 2 });
      const [first, second] = await store.claim(2);
      if (!first || !second) throw new Error('two items are claimed');
      await store.fail(second, 'gpu_oom', 'embedding');
      assert.equal((await store.job(key)).state, 'running');
      await store.fail(first, 'http_404');
      const job = await store.job(key);
      assert.deepEqual([job.state, job.failed_stage], ['failed', 'scraping']);
      assert.equal(JSON.parse(job.error ?? '').code, 'http_404');
      assert.equal(await status(store, key), 'failed');
      assert.equal(job.ended_at, store.world.now());
    },
  ],
  [
    'a job of which some failed has succeeded in part',
    async (store) => {
      const { key } = await store.submit({ items: 2 });
      const [first, second] = await store.claim(2);
      if (!first || !second) throw new Error('two items are claimed');
      await store.fail(first);
      await store.finish(second);
      const job = await store.job(key);
      assert.deepEqual([job.state, isPartialJob(job)], ['succeeded', true]);
      assert.equal((await store.events()).at(-1)?.detail?.partial, true);
    },
  ],
  [
    'a job waits when all unfinished items wait, and runs again with the next claim',
    async (store) => {
      const { key } = await store.submit({ items: 2 });
      const [first, second] = await store.claim(2);
      if (!first || !second) throw new Error('two items are claimed');
      await store.wait(first, 1000);
      assert.equal((await store.job(key)).state, 'running');
      await store.finish(second);
      assert.equal((await store.job(key)).state, 'retry_pending');
      assert.equal(await status(store, key), 'scraping');
      store.world.skip(1000);
      await store.wake();
      await store.finish(await store.claimOne());
      assert.equal((await store.job(key)).state, 'succeeded');
      const kinds = (await store.story()).filter((line) => line.startsWith('job_'));
      assert.deepEqual(kinds, [
        'job_accepted',
        'job_started',
        'job_waiting',
        'job_started',
        'job_succeeded',
      ]);
    },
  ],
  [
    'a canceled job is canceled, and a retried one runs again',
    async (store) => {
      const { key } = await store.submit();
      await store.claimOne();
      await store.commands.cancel('ann', key);
      assert.equal(await status(store, key), 'canceled');
      await store.commands.retry('ann', key);
      assert.equal(await status(store, key), 'scraping');
    },
  ],
  [
    'jobs are listed newest first, page by page, each caller seeing its own',
    async (store) => {
      const keys: string[] = [];
      for (let index = 0; index < 5; index++) keys.unshift((await store.submit()).key);
      await store.submit({ caller: 'bob' });
      const first = await listJobs(store.database, { caller: 'ann', limit: 3 });
      const before = first.at(-1)?.id;
      const second = await listJobs(store.database, { caller: 'ann', limit: 3, before });
      assert.deepEqual(
        [...first, ...second].map(({ key }) => key),
        keys,
      );
      assert.equal(second.length, 2);
    },
  ],
  [
    'a job is found by the beginning of its key, and by no other characters',
    async (store) => {
      const { key } = await store.submit();
      await store.submit({ caller: 'bob' });
      const find = async (prefix: string) =>
        (await findJobs(store.database, 'ann', prefix)).map((job) => job.key);
      for (const prefix of [key, key.slice(0, 4), key.toUpperCase()]) {
        assert.deepEqual(await find(prefix), [key], prefix);
      }
      for (const prefix of ['', 'zz!', '!', '%', '_', `${key}%`, `${key[0]}_`, "'", '\0', 'é']) {
        assert.deepEqual(await find(prefix), [], JSON.stringify(prefix));
      }
    },
  ],
  [
    'the item counts of many jobs are one query',
    async (store) => {
      const keys: string[] = [];
      for (let index = 0; index < 4; index++) keys.push((await store.submit()).key);
      const [first, second, third] = await store.claim(3);
      assert.ok(first && second && third);
      await store.finish(first);
      await store.commit(second, 'fetched', 'content_extracted', 'chunked');
      let queries = 0;
      const reader: Reader = {
        run: (...asked) => {
          queries++;
          return store.database.run(...asked);
        },
      };
      const rows = await Promise.all(keys.map((key) => store.job(key)));
      const statuses = await statusesOf(reader, rows);
      assert.deepEqual(statuses, ['done', 'embedding', 'scraping', 'pending']);
      assert.equal(queries, 1);
      assert.deepEqual(await statusesOf(reader, rows.slice(0, 1)), ['done']);
      assert.equal(queries, 1);
    },
  ],
  [
    'jobs are listed by corpus, by state, and by both',
    async (store) => {
      const done = await store.submit({ corpus: 'one' });
      await store.finish(await store.claimOne());
      const open = await store.submit({ corpus: 'one' });
      const other = await store.submit({ corpus: 'two' });
      const keys = async (filter: { corpus?: string; state?: 'queued' | 'succeeded' }) => {
        const jobs = await listJobs(store.database, { caller: 'ann', limit: 9, ...filter });
        return jobs.map(({ key }) => key);
      };
      assert.deepEqual(await keys({ corpus: 'one' }), [open.key, done.key]);
      assert.deepEqual(await keys({ state: 'queued' }), [other.key, open.key]);
      assert.deepEqual(await keys({ corpus: 'one', state: 'queued' }), [open.key]);
      assert.deepEqual(await keys({ corpus: 'three' }), []);
    },
  ],
  [
    'a job is looked up by the beginning of its key, without reading all jobs of its caller',
    async (store) => {
      // Postgres plans by table size, and reads all of a small table.
      if (store.database.dialect.name !== 'sqlite') return;
      const plans: string[] = [];
      const explained: Parameters<typeof findJobs>[0] = {
        dialect: store.database.dialect,
        run: async ({ text }, parameters) => {
          const explain = `EXPLAIN QUERY PLAN ${text}`;
          const rows = await store.rows<{ detail: string }>(explain, parameters);
          plans.push(...rows.map(({ detail }) => detail));
          return [];
        },
      };
      await findJobs(explained, 'ann', 'abc');
      assert.match(plans.join(), /SEARCH jobs USING INDEX \S+ \(key>\? AND key<\?\)/);
    },
  ],
];
