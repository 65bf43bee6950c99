import assert from 'node:assert/strict';
import {
  countDeliveries,
  insertDeliveries,
  listDeliveries,
  nextDueAt,
  pruneDeliveries,
  replayDelivery,
  settleDelivery,
  takeDue,
  takeEnds,
} from '../../../src/store/delivery/deliveries.ts';
import { getJob } from '../../../src/store/job/jobs.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

async function endJob({ commands, database }: StoreFixture) {
  const { jobKey } = await commands.submit({
    caller: 'ann',
    corpus: 'notes',
    sources: [{ kind: 'file', source: '/a.txt' }],
    webhookUrl: 'https://example.org/hook',
  });
  await commands.cancel('ann', jobKey);
  const id = (await getJob(database, jobKey))?.id ?? 0;
  return { jobKey, id };
}

const delivery = { kind: 'job_canceled', url: 'https://example.org/hook', body: '{}' } as const;

export const deliveryTests: readonly StoreTest[] = [
  [
    'each end of a job is taken from the log once, with its webhook',
    async (store) => {
      const { database } = store;
      const { jobKey } = await endJob(store);
      const take = () => database.write((transaction) => takeEnds(transaction, 10));
      const [first, second] = await Promise.all([take(), take()]);
      const ends = [...first, ...second];
      assert.equal(ends.length, 1);
      const [end] = ends;
      assert.deepEqual(
        [end?.key, end?.kind, end?.webhook_url, end?.caller],
        [jobKey, 'job_canceled', 'https://example.org/hook', 'ann'],
      );
      assert.deepEqual(await take(), []);
    },
  ],
  [
    'a delivery is taken by one sender at a time, settled, and made due again',
    async (store) => {
      const { database } = store;
      const { id: job_id } = await endJob(store);
      const row = { ...delivery, key: 'msg_1', seq: 1, job_id, created_at: 100 };
      await database.write((transaction) => insertDeliveries(transaction, [row]));
      assert.equal(await nextDueAt(database), 100);
      const take = (now: number) =>
        database.write((transaction) => takeDue(transaction, { now, until: now + 50, limit: 5 }));
      assert.deepEqual(await take(99), []);
      const [taken] = await take(100);
      assert.deepEqual([taken?.key, taken?.attempt, taken?.due_at], ['msg_1', 1, 150]);
      assert.deepEqual(await take(149), []);
      const ended = { key: 'msg_1', due_at: null, status: 204, error: null, is_delivered: 1 };
      const settle = (attempt: number) =>
        database.write((transaction) => settleDelivery(transaction, { ...ended, attempt }));
      await settle(7);
      assert.equal(
        await nextDueAt(database),
        150,
        'a try that is not the last one changes nothing',
      );
      await settle(1);
      assert.equal(await nextDueAt(database), null);
      const [listed] = await listDeliveries(database, { job_id, after: 0, limit: 5 });
      assert.deepEqual([listed?.is_delivered, listed?.status], [1, 204]);
      const replay = (key: string) =>
        database.write((transaction) => replayDelivery(transaction, { key, job_id, now: 300 }));
      assert.equal((await replay('msg_1'))?.due_at, 300);
      assert.equal(await replay('msg_2'), undefined);
      const prune = () =>
        database.write((transaction) => pruneDeliveries(transaction, { before: 999, limit: 5 }));
      assert.equal(await prune(), 0, 'what is due is kept');
      await take(300);
      await settle(1);
      assert.equal(await prune(), 1);
    },
  ],
  [
    'deliveries are counted by state',
    async (store) => {
      const { database } = store;
      const { id: job_id } = await endJob(store);
      const rows = ['new', 'twice', 'sent', 'lost', 'lost-long-ago'].map((key, at) => ({
        ...{ ...delivery, key, seq: at + 1, job_id },
        created_at: key === 'lost-long-ago' ? 50 : 100,
      }));
      await database.write((transaction) => insertDeliveries(transaction, rows.slice(1)));
      const take = (now: number) =>
        database.write((transaction) => takeDue(transaction, { now, until: now, limit: 9 }));
      await take(100);
      await take(101);
      await database.write(async (transaction) => {
        const ended = { attempt: 2, due_at: null, status: 500, error: null, is_delivered: 0 };
        await settleDelivery(transaction, { ...ended, key: 'sent', is_delivered: 1 });
        await settleDelivery(transaction, { ...ended, key: 'lost' });
        await settleDelivery(transaction, { ...ended, key: 'lost-long-ago' });
        await insertDeliveries(transaction, rows.slice(0, 1));
      });
      const counts = await countDeliveries(database, { since: 60 });
      assert.deepEqual(counts, { waiting: 1, retrying: 1, failed: 1 });
    },
  ],
];
