import assert from 'node:assert/strict';
import type { StoreFixture, StoreTest, Submitted } from '../../support/store-fixture.ts';

/** A job with an item in every state: done, failed, leased, delayed, queued. */
async function spread(store: StoreFixture): Promise<Submitted> {
  const job = await store.submit({ items: 5 });
  const [done, failed, , asleep] = await store.claim(4);
  if (!done || !failed || !asleep) throw new Error('four items are claimed');
  await store.finish(done);
  await store.fail(failed);
  await store.wait(asleep, 5000);
  return job;
}

async function places(store: StoreFixture, { ids }: Submitted): Promise<string[]> {
  const items = await Promise.all(ids.map((id) => store.item(id)));
  return items.map(({ step, waits_on }) => `${step} ${waits_on ?? '-'}`);
}

async function counts(store: StoreFixture, { key }: Submitted): Promise<(number | string)[]> {
  const job = await store.job(key);
  const { items_done, items_failed, items_canceled, items_waiting } = job;
  return [job.state, items_done, items_failed, items_canceled, items_waiting];
}

const asleep = { turns: 0, timers: 0, lines: 0 };

async function assertQueues(store: StoreFixture, expected: Record<string, number>): Promise<void> {
  const { claims: _, ...queues } = await store.queues();
  assert.deepEqual(queues, expected);
  assert.equal(await store.withoutCause(), 0);
}

export const interventionTests: readonly StoreTest[] = [
  [
    'cancel ends all open items, keeps ended ones, and returns a receipt',
    async (store) => {
      const job = await spread(store);
      const receipt = await store.commands.cancel('ann', job.key);
      assert.deepEqual([receipt.itemsCanceled, receipt.itemsDone, receipt.itemsFailed], [3, 1, 1]);
      assert.deepEqual(await places(store, job), [
        'done -',
        'failed -',
        'canceled -',
        'canceled -',
        'canceled -',
      ]);
      assert.deepEqual(await counts(store, job), ['canceled', 1, 1, 3, 0]);
      await assertQueues(store, asleep);
      assert.deepEqual((await store.story()).slice(-4), [
        'job_canceled',
        'item_canceled',
        'item_canceled',
        'item_canceled',
      ]);
    },
  ],
  [
    'the holder of a canceled item is fenced off',
    async (store) => {
      const job = await store.submit();
      const row = await store.claimOne();
      await store.commands.cancel('ann', job.key);
      const before = await store.state();
      const progress = store.lifecycle.reach(0, 'fetched');
      assert.equal(await store.report(row, { to: 'advance', progress }), 'refused');
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'pause makes all open items wait for a person, and resume returns them',
    async (store) => {
      const job = await spread(store);
      await store.commands.pause('ann', job.key);
      assert.deepEqual((await places(store, job)).slice(2), [
        'enqueued person',
        'enqueued person',
        'enqueued person',
      ]);
      assert.deepEqual(await counts(store, job), ['paused', 1, 1, 0, 0]);
      await assertQueues(store, asleep);
      assert.deepEqual(await store.claim(9), []);
      await store.commands.resume('ann', job.key);
      assert.deepEqual((await places(store, job)).slice(2), [
        'enqueued turn',
        'enqueued turn',
        'enqueued turn',
      ]);
      assert.deepEqual(await counts(store, job), ['queued', 1, 1, 0, 0]);
      await assertQueues(store, { turns: 3, timers: 0, lines: 0 });
      assert.equal((await store.claim(9)).length, 3);
      assert.equal((await store.job(job.key)).state, 'running');
    },
  ],
  [
    'the holder of a paused item is fenced off, also after the resume',
    async (store) => {
      const job = await store.submit();
      const row = await store.claimOne();
      await store.commands.pause('ann', job.key);
      assert.equal(await store.fail(row), 'refused');
      await store.commands.resume('ann', job.key);
      assert.equal(await store.fail(row), 'refused');
      assert.equal((await store.claimOne()).id, row.id);
    },
  ],
  [
    'a paused job can be canceled',
    async (store) => {
      const job = await spread(store);
      await store.commands.pause('ann', job.key);
      assert.equal((await store.commands.cancel('ann', job.key)).itemsCanceled, 3);
      assert.deepEqual(await counts(store, job), ['canceled', 1, 1, 3, 0]);
    },
  ],
  [
    'retry of a job restores failed and canceled items, each where it was',
    async (store) => {
      const job = await store.submit({ items: 3 });
      const [first, second] = await store.claim(2);
      if (!first || !second) throw new Error('two items are claimed');
      await store.fail(await store.commit(first, 'fetched', 'content_extracted', 'embedded'));
      await store.commands.cancel('ann', job.key);
      assert.equal(await store.commands.retry('ann', job.key), 3);
      assert.deepEqual(await places(store, job), [
        'content_extracted turn',
        'enqueued turn',
        'enqueued turn',
      ]);
      assert.deepEqual(await counts(store, job), ['queued', 0, 0, 0, 0]);
      await assertQueues(store, { turns: 3, timers: 0, lines: 0 });
      const item = await store.item(job.ids[0]);
      assert.deepEqual([item.error, item.failed_at, item.attempt], [null, null, 0]);
      assert.deepEqual(store.lifecycle.ready((await store.claimOne()).progress), [
        'chunked',
        'entity_extracted',
      ]);
      assert.equal((await store.job(job.key)).ended_at, null);
    },
  ],
  [
    'a succeeded job without failed items has nothing to retry',
    async (store) => {
      const { key } = await store.submit();
      await store.finish(await store.claimOne());
      const before = await store.state();
      await assert.rejects(store.commands.retry('ann', key), { code: 'action_not_allowed' });
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'an item of the inbox is retried alone, while its job continues',
    async (store) => {
      const job = await spread(store);
      assert.equal(await store.commands.retryItems('ann', [job.ids[1] as number]), 1);
      assert.deepEqual(await counts(store, job), ['running', 1, 0, 0, 1]);
      await assertQueues(store, { turns: 2, timers: 1, lines: 0 });
      const history = await store.events();
      assert.ok(history.some(({ kind }) => kind === 'item_retried'));
    },
  ],
  [
    'a retried item of a paused job waits with the others for the resume',
    async (store) => {
      const job = await spread(store);
      await store.commands.pause('ann', job.key);
      await store.commands.retryItems('ann', [job.ids[1] as number]);
      assert.deepEqual(await store.claim(9), []);
      await store.commands.resume('ann', job.key);
      assert.equal((await store.claim(9)).length, 4);
    },
  ],
  [
    'an item named twice is retried once',
    async (store) => {
      const job = await spread(store);
      const failed = job.ids[1] as number;
      assert.equal(await store.commands.retryItems('ann', [failed, failed]), 1);
      assert.deepEqual(await counts(store, job), ['running', 1, 0, 0, 1]);
    },
  ],
  [
    'a discarded item leaves the inbox permanently, and counts as canceled',
    async (store) => {
      const job = await spread(store);
      assert.equal(await store.commands.discardItems('ann', [job.ids[1] as number]), 1);
      assert.deepEqual(await counts(store, job), ['running', 1, 0, 1, 1]);
      const item = await store.item(job.ids[1]);
      assert.deepEqual([item.step, item.failed_at, item.waits_on], ['canceled', null, null]);
      await assert.rejects(store.commands.discardItems('ann', [job.ids[1] as number]), {
        code: 'action_not_allowed',
      });
    },
  ],
  [
    'an item named twice is discarded once',
    async (store) => {
      const job = await spread(store);
      const failed = job.ids[1] as number;
      assert.equal(await store.commands.discardItems('ann', [failed, failed]), 1);
      assert.deepEqual(await counts(store, job), ['running', 1, 0, 1, 1]);
    },
  ],
  [
    'a caller cannot change what belongs to another',
    async (store) => {
      const job = await spread(store);
      const before = await store.state();
      const { commands } = store;
      await assert.rejects(commands.cancel('bob', job.key), { code: 'job_unknown' });
      await assert.rejects(commands.pause('bob', job.key), { code: 'job_unknown' });
      await assert.rejects(commands.retryItems('bob', [...job.ids]), { code: 'item_unknown' });
      assert.deepEqual(await store.state(), before);
    },
  ],
  [
    'an action that the state does not allow is refused, with the possible ones',
    async (store) => {
      const { key } = await store.submit();
      await assert.rejects(store.commands.resume('ann', key), {
        code: 'action_not_allowed',
        message: /possible now: cancel, pause/,
      });
      await store.finish(await store.claimOne());
      for (const action of ['cancel', 'pause', 'resume'] as const) {
        await assert.rejects(store.commands[action]('ann', key), { code: 'action_not_allowed' });
      }
    },
  ],
];
