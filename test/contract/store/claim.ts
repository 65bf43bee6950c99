import assert from 'node:assert/strict';
import { lookForWork, nextDueAt } from '../../../src/store/item/claims.ts';
import { getInput } from '../../../src/store/item/items.ts';
import { claimedItems } from '../../../src/store/item/queues.ts';
import type { StoreTest } from '../../support/store-fixture.ts';

export const claimTests: readonly StoreTest[] = [
  [
    'a submission stores the job, its items in order, their inputs and the event, in one commit',
    async (store) => {
      const input = { kind: 'markdown', title: 'One', body: '# One' } as const;
      const { key, ids } = await store.submit({
        sources: [
          { kind: 'inline', source: 'one', input },
          { kind: 'file', source: '/two' },
        ],
      });
      const job = await store.job(key);
      assert.deepEqual([job.state, job.items_total, job.url], ['queued', 2, 'one']);
      const items = await Promise.all(ids.map((id) => store.item(id)));
      assert.deepEqual(
        items.map(({ source, step, waits_on }) => [source, step, waits_on]),
        [
          ['one', 'enqueued', 'turn'],
          ['/two', 'enqueued', 'turn'],
        ],
      );
      assert.deepEqual({ ...(await getInput(store.database, ids[0] as number)) }, input);
      assert.deepEqual(await store.story(), ['job_accepted']);
    },
  ],
  [
    'a submission that fails at its end leaves no trace',
    async (store) => {
      const before = await store.state();
      store.world.uuid = () => 'same';
      await store.submit();
      await assert.rejects(store.submit({ items: 3 }), /unique/i);
      const after = await store.state();
      assert.deepEqual(before.items, []);
      assert.equal(after.items?.length, 1);
      assert.equal(after.turns?.length, 1);
      assert.equal((await store.events()).length, 1);
    },
  ],
  [
    'an invalid submission is refused by its own code, and stores nothing',
    async (store) => {
      await assert.rejects(store.submit({ corpus: 'No Good' }), { code: 'corpus_name_invalid' });
      await assert.rejects(store.submit({ sources: [] }), { code: 'sources_empty' });
      await assert.rejects(store.submit({ items: 100_001 }), { code: 'too_many_sources' });
      await assert.rejects(store.submit({ priority: 10 }), { code: 'bad_request' });
      assert.deepEqual((await store.state()).jobs, []);
    },
  ],
  [
    'items are claimed in the order of their ranks, as many as requested',
    async (store) => {
      const { ids } = await store.submit({ items: 5 });
      const rows = await store.claim(3);
      assert.deepEqual(
        rows.map(({ id }) => id),
        ids.slice(0, 3),
      );
      assert.deepEqual(
        (await store.claim(9)).map(({ id }) => id),
        ids.slice(3),
      );
      assert.deepEqual(await store.claim(9), []);
    },
  ],
  [
    'a claim leases the item: worker, epoch, time, and a claim record',
    async (store) => {
      await store.register('w1');
      const { key, ids } = await store.submit();
      store.world.skip(1000);
      const row = await store.claimOne('w1');
      const item = await store.item(ids[0]);
      assert.deepEqual(
        [item.waits_on, item.worker, item.epoch, item.moved_at],
        ['worker', 'w1', 1, store.world.now()],
      );
      assert.equal(row.epoch, 1);
      assert.deepEqual(await claimedItems(store.database, 'w1'), [...ids]);
      assert.deepEqual(await store.queues(), { turns: 0, timers: 0, lines: 0, claims: 1 });
      const job = await store.job(key);
      assert.deepEqual([job.state, job.started_at], ['running', store.world.now()]);
      assert.deepEqual(await store.story(), [
        'job_accepted',
        'job_started',
        'step_started fetched',
      ]);
      assert.equal(await store.withoutCause(), 0);
    },
  ],
  [
    'a claim of an item at its branches begins all open ones',
    async (store) => {
      await store.submit();
      const row = await store.commit(
        await store.claimOne(),
        'fetched',
        'content_extracted',
        'embedded',
      );
      await store.report(row, { to: 'turn' });
      const after = (await store.events()).at(-1)?.seq;
      const again = await store.claimOne();
      assert.equal(again.epoch, row.epoch + 2);
      assert.deepEqual(await store.story(after), [
        'step_started chunked',
        'step_started entity_extracted',
      ]);
    },
  ],
  [
    'two sessions that claim at once never get the same item, and together get all',
    async (store) => {
      const sessions = [store.database, (await store.openAnother?.()) ?? store.database];
      await store.register('w0');
      await store.register('w1');
      const { ids } = await store.submit({ items: 200 });
      const claims = Array.from({ length: 40 }, (_, index) =>
        store.claim(5, `w${index % 2}`, sessions[index % 2]),
      );
      const claimed = (await Promise.all(claims)).flat().map(({ id }) => id);
      while (claimed.length < ids.length) {
        const rest = await store.claim(50);
        if (rest.length === 0) break;
        claimed.push(...rest.map(({ id }) => id));
      }
      assert.equal(new Set(claimed).size, claimed.length);
      assert.deepEqual(
        claimed.toSorted((a, b) => a - b),
        [...ids],
      );
    },
  ],
  [
    'whether an item is ready, and when the next one wakes, are cheap queries',
    async (store) => {
      const none = { hasTurn: false, suspectLoneDeaths: undefined, serviceQueues: new Set() };
      assert.deepEqual(await lookForWork(store.database), none);
      await store.submit();
      assert.deepEqual(await lookForWork(store.database), { ...none, hasTurn: true });
      const row = await store.claimOne();
      assert.deepEqual(await lookForWork(store.database), none);
      assert.equal(await nextDueAt(store.database), undefined);
      await store.wait(row, 5000);
      assert.equal(await nextDueAt(store.database), store.world.now() + 5000);
    },
  ],
  [
    'an item wakes when its time has come, and not before',
    async (store) => {
      const { key, ids } = await store.submit();
      await store.wait(await store.claimOne(), 5000, 2);
      store.world.skip(4999);
      assert.equal(await store.wake(), 0);
      assert.equal((await store.job(key)).items_waiting, 1);
      store.world.skip(1);
      assert.equal(await store.wake(), 1);
      const item = await store.item(ids[0]);
      assert.deepEqual([item.waits_on, item.due_at, item.attempt], ['turn', null, 2]);
      assert.equal((await store.job(key)).items_waiting, 0);
      assert.deepEqual(await store.queues(), { turns: 1, timers: 0, lines: 0, claims: 1 });
      assert.equal((await store.claimOne()).attempt, 2);
    },
  ],
  [
    'a wake-up takes no more items than allowed, the longest due first',
    async (store) => {
      const { ids } = await store.submit({ items: 3 });
      for (const row of await store.claim(3)) await store.wait(row, 3000 - row.id);
      store.world.skip(3000);
      assert.equal(await store.wake(2), 2);
      const asleep = await store.rows<{ id: number }>(
        "SELECT id FROM items WHERE waits_on = 'time'",
      );
      assert.deepEqual(
        asleep.map(({ id }) => id),
        [ids[0]],
      );
    },
  ],
];
