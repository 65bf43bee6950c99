import assert from 'node:assert/strict';
import { leaseOf } from '../../../src/engine/item/ledger.ts';
import { item as lifecycle } from '../../../src/kernel/lifecycle/item.ts';
import type { NewEvent } from '../../../src/observe/event.ts';
import { ensureCorpus } from '../../../src/store/document/documents.ts';
import type { Transaction } from '../../../src/store/driver/database.ts';
import type { StoreTest } from '../../support/store-fixture.ts';

const fetched = lifecycle.reach(0, 'fetched');
const extracted = lifecycle.reach(fetched, 'content_extracted');
const toFetched = { to: 'advance', progress: fetched } as const;

/** An effect that leaves a mark, and its own event. */
const mark =
  (name: string) =>
  async (transaction: Transaction): Promise<NewEvent[]> => {
    await ensureCorpus(transaction, name, 1);
    return [{ kind: 'generation_flipped', jobId: null }];
  };

export const reportTests: readonly StoreTest[] = [
  [
    'a commit stores the progress, the step, its writes and its events',
    async (store) => {
      const { key, ids } = await store.submit();
      const row = await store.claimOne();
      const usage = { tokensIn: 5, tokensOut: 2, costCents: 0.25 };
      const verdict = await store.report(row, toFetched, {
        usage,
        counts: { documents: 1, chunks: 3 },
        effect: mark('marked'),
        events: [{ kind: 'step_completed', jobId: row.job_id, itemId: row.id, step: 'fetched' }],
      });
      assert.equal(verdict, 'applied');
      const item = await store.item(ids[0]);
      assert.deepEqual(
        [item.step, item.progress, item.epoch, item.waits_on, item.tokens_in, item.cost_cents],
        ['fetched', fetched, row.epoch, 'worker', 5, 0.25],
      );
      const job = await store.job(key);
      assert.deepEqual(
        [job.documents_emitted, job.chunks_indexed, job.tokens_out, job.cost_cents],
        [1, 3, 2, 0.25],
      );
      const corpora = await store.rows("SELECT name FROM corpora WHERE name = 'marked'");
      assert.equal(corpora.length, 1);
      assert.deepEqual((await store.story()).slice(-2), [
        'generation_flipped',
        'step_completed fetched',
      ]);
    },
  ],
  [
    'a report under a stale epoch is refused: no effect happens, only the history records it',
    async (store) => {
      await store.submit();
      const old = await store.claimOne();
      await store.report(old, { to: 'turn' });
      await store.claimOne();
      const before = await store.state();
      const verdict = await store.report(old, toFetched, {
        effect: mark('zombie'),
        events: [{ kind: 'step_completed', jobId: old.job_id }],
        usage: { tokensIn: 9, tokensOut: 9, costCents: 9 },
      });
      assert.equal(verdict, 'refused');
      assert.deepEqual(await store.state(), before);
      assert.deepEqual(await store.rows("SELECT name FROM corpora WHERE name = 'zombie'"), []);
      const last = (await store.events()).at(-1);
      assert.deepEqual([last?.kind, last?.itemId], ['report_refused', old.id]);
    },
  ],
  [
    'every kind of move is refused under a stale epoch',
    async (store) => {
      await store.submit();
      const old = await store.claimOne();
      await store.report(old, { to: 'turn' });
      const before = await store.state();
      assert.equal(await store.fail(old), 'refused');
      assert.equal(await store.wait(old, 1), 'refused');
      assert.equal(await store.report(old, { to: 'turn' }), 'refused');
      const end = { to: 'advance', progress: lifecycle.complete } as const;
      assert.equal(await store.report(old, end), 'refused');
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'a report with another progress is refused, and a step is not committed twice',
    async (store) => {
      await store.submit();
      const row = await store.claimOne();
      assert.equal(await store.report(row, toFetched), 'applied');
      const before = await store.state();
      assert.equal(await store.report(row, toFetched, { effect: mark('twice') }), 'refused');
      assert.equal(await store.report({ ...row, progress: 127 }, toFetched), 'refused');
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'two reports of one lease in one batch are one move with both effects',
    async (store) => {
      const { key, ids } = await store.submit();
      const row = await store.claimOne();
      const lease = leaseOf(row, 'worker');
      const usage = { tokensIn: 1, tokensOut: 1, costCents: 1 };
      const verdicts = await store.apply([
        { lease, expect: 0, move: toFetched, events: [], usage, effect: mark('one') },
        {
          lease,
          expect: fetched,
          move: { to: 'advance', progress: extracted },
          events: [],
          usage,
          effect: mark('two'),
        },
      ]);
      assert.deepEqual(verdicts, ['applied', 'applied']);
      const item = await store.item(ids[0]);
      assert.deepEqual([item.progress, item.tokens_in], [extracted, 2]);
      assert.equal((await store.job(key)).cost_cents, 2);
      const names = await store.rows("SELECT name FROM corpora WHERE name IN ('one', 'two')");
      assert.equal(names.length, 2);
    },
  ],
  [
    'a commit and a wait of one lease in one batch keep the commit',
    async (store) => {
      const { ids } = await store.submit();
      const row = await store.claimOne();
      const lease = leaseOf(row, 'worker');
      const dueAt = store.world.now() + 1000;
      const verdicts = await store.apply([
        { lease, expect: 0, move: toFetched, events: [], effect: mark('one') },
        { lease, expect: fetched, move: { to: 'time', dueAt, attempt: 1 }, events: [] },
      ]);
      assert.deepEqual(verdicts, ['applied', 'applied']);
      const item = await store.item(ids[0]);
      assert.deepEqual([item.waits_on, item.progress, item.step], ['time', fetched, 'fetched']);
    },
  ],
  [
    'in one batch a stale report does not affect the others',
    async (store) => {
      const { ids } = await store.submit({ items: 3 });
      const rows = await store.claim(3);
      const stale = { ...(rows[1] as (typeof rows)[0]), epoch: 99 };
      const reports = [rows[0], stale, rows[2]].map((row) => ({
        lease: leaseOf(row as (typeof rows)[0], 'worker'),
        expect: 0,
        move: toFetched,
        events: [],
      }));
      assert.deepEqual(await store.apply(reports), ['applied', 'refused', 'applied']);
      const steps = await Promise.all(ids.map(async (id) => (await store.item(id)).step));
      assert.deepEqual(steps, ['fetched', 'enqueued', 'fetched']);
    },
  ],
  [
    'the last commit ends the item and releases the lease',
    async (store) => {
      const { key, ids } = await store.submit();
      await store.finish(await store.claimOne());
      const item = await store.item(ids[0]);
      assert.deepEqual([item.step, item.waits_on, item.worker], ['done', null, null]);
      const job = await store.job(key);
      assert.deepEqual([job.state, job.items_done], ['succeeded', 1]);
      assert.equal((await store.story()).at(-1), 'job_succeeded');
    },
  ],
  [
    'a failure keeps the progress, the error and its time, and puts the item into the inbox',
    async (store) => {
      const { ids } = await store.submit();
      const row = await store.commit(await store.claimOne(), 'fetched');
      await store.fail(row, 'no_usable_content');
      const item = await store.item(ids[0]);
      assert.deepEqual(
        [item.step, item.progress, item.waits_on, item.failed_at],
        ['failed', fetched, null, store.world.now()],
      );
      assert.equal(JSON.parse(item.error ?? '').code, 'no_usable_content');
    },
  ],
  [
    'a returned item is in the queue again, with its progress and no try used',
    async (store) => {
      const { ids } = await store.submit();
      const row = await store.commit(await store.claimOne(), 'fetched');
      await store.report(row, { to: 'turn' });
      const item = await store.item(ids[0]);
      assert.deepEqual(
        [item.waits_on, item.attempt, item.progress, item.worker],
        ['turn', 0, fetched, null],
      );
      assert.equal((await store.claimOne()).progress, fetched);
    },
  ],
];
