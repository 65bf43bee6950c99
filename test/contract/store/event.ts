import assert from 'node:assert/strict';
import type { NewEvent } from '../../../src/observe/event.ts';
import {
  appendEvents,
  listEvents,
  newestSequence,
  pruneEvents,
} from '../../../src/store/delivery/events.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';
import { turn } from '../../support/test-world.ts';

const event = (step: string, jobId: number | null = null): NewEvent => ({
  kind: 'step_progressed',
  jobId,
  step,
});

function append(database: Database, events: readonly NewEvent[], now = 1): Promise<void> {
  return database.write((transaction) => appendEvents(transaction, events, now));
}

async function sequence(store: StoreFixture): Promise<number[]> {
  return (await store.events()).map(({ seq }) => seq);
}

export const eventTests: readonly StoreTest[] = [
  [
    'sequence numbers start at 1, have no gaps, and follow the order of the batch',
    async (store) => {
      await append(store.database, [event('a'), event('b')]);
      await append(store.database, [event('c')]);
      assert.deepEqual(await sequence(store), [1, 2, 3]);
      assert.deepEqual(
        (await store.events()).map(({ step }) => step),
        ['a', 'b', 'c'],
      );
      assert.equal(await newestSequence(store.database), 3);
    },
  ],
  [
    'a rolled back transaction leaves no gap',
    async (store) => {
      await append(store.database, [event('a')]);
      const failing = store.database.write(async (transaction) => {
        await appendEvents(transaction, [event('x'), event('y')], 1);
        throw new Error('no');
      });
      await assert.rejects(failing);
      await append(store.database, [event('b')]);
      assert.deepEqual(await sequence(store), [1, 2]);
    },
  ],
  [
    'an event is read as it was appended',
    async (store) => {
      const detail = { code: 'http_404', nested: { deep: [1, 'zwei'] } };
      const full: NewEvent = { ...event('fetched', 4), itemId: 5, attempt: 2, worker: 'w', detail };
      await append(store.database, [full], 77);
      assert.deepEqual(await store.events(), [{ ...full, seq: 1, at: 77 }]);
    },
  ],
  [
    'events are listed after a position, up to a limit, of all jobs or of one',
    async (store) => {
      const steps = ['a', 'b', 'c', 'd', 'e'];
      await append(
        store.database,
        steps.map((step, index) => event(step, (index % 2) + 1)),
      );
      const list = async (filter: { jobId?: number; after: number; limit: number }) =>
        (await listEvents(store.database, filter)).map(({ step }) => step).join('');
      assert.equal(await list({ after: 1, limit: 3 }), 'bcd');
      assert.equal(await list({ after: 5, limit: 3 }), '');
      assert.equal(await list({ jobId: 1, after: 0, limit: 9 }), 'ace');
      assert.equal(await list({ jobId: 1, after: 1, limit: 1 }), 'c');
    },
  ],
  [
    'a reader with a cursor sees every event once, in order, during 8 concurrent writers',
    async (store) => {
      const writers = 8;
      const perWriter = 25;
      let writing = writers;
      const write = async (writer: number): Promise<void> => {
        for (let round = 0; round < perWriter; round++) {
          const count = 1 + (round % 3);
          const batch = Array.from({ length: count }, () => event(`${writer}`));
          await append(store.database, batch);
        }
        writing--;
      };
      const seen: number[] = [];
      const tail = async (): Promise<void> => {
        for (let isLast = false; ; ) {
          const events = await listEvents(store.database, { after: seen.at(-1) ?? 0, limit: 40 });
          seen.push(...events.map(({ seq }) => seq));
          if (events.length === 0 && isLast) return;
          isLast = writing === 0;
          await turn();
        }
      };
      await Promise.all([tail(), ...Array.from({ length: writers }, (_, n) => write(n))]);
      const total = await newestSequence(store.database);
      assert.equal(total, writers * (9 + 2 * 8 + 3 * 8));
      assert.deepEqual(
        seen,
        Array.from({ length: total }, (_, index) => index + 1),
      );
    },
  ],
  [
    'old history of ended jobs is pruned, that of open jobs stays',
    async (store) => {
      const ended = await store.submit();
      await store.finish(await store.claimOne());
      const open = await store.submit();
      const before = store.world.now() + 1;
      store.world.skip(10);
      const recent = await store.submit();
      const [, last] = await store.claim(2);
      if (!last) throw new Error('two items are claimed');
      await store.finish(last);
      const pruned = await store.database.write((transaction) =>
        pruneEvents(transaction, { before, limit: 1000 }),
      );
      const left = await store.events();
      const jobs = await Promise.all([ended, open, recent].map(({ key }) => store.job(key)));
      const countOf = (id: number | undefined) =>
        left.filter(({ jobId, kind }) => jobId === id && kind === 'job_accepted').length;
      assert.ok(pruned > 0);
      assert.equal(countOf(jobs[0]?.id), 0);
      assert.ok(countOf(jobs[1]?.id) > 0);
      assert.ok(countOf(jobs[2]?.id) > 0);
    },
  ],
  [
    'a bounded number of events is pruned at a time, oldest first, and numbering continues',
    async (store) => {
      await append(
        store.database,
        ['a', 'b', 'c', 'd'].map((step) => event(step)),
      );
      const prune = () =>
        store.database.write((transaction) => pruneEvents(transaction, { before: 2, limit: 3 }));
      assert.equal(await prune(), 3);
      assert.deepEqual(await sequence(store), [4]);
      await prune();
      await append(store.database, [event('e')], 5);
      assert.equal(await newestSequence(store.database), 5);
    },
  ],
  [
    'events of open jobs are skipped, and checked again once the jobs have ended',
    async (store) => {
      const open = await store.submit();
      const { id } = await store.job(open.key);
      await append(
        store.database,
        Array.from({ length: 3 }, () => event('kept', id)),
      );
      await append(store.database, [event('a'), event('b'), event('c')]);
      await append(store.database, [event('young')], store.world.now() + 10);
      const before = store.world.now() + 1;
      const prune = () =>
        store.database.write((transaction) => pruneEvents(transaction, { before, limit: 4 }));
      const left = async () => (await store.events()).flatMap(({ step }) => step ?? []);
      assert.deepEqual([await prune(), await prune()], [0, 3]);
      assert.deepEqual(await left(), ['kept', 'kept', 'kept', 'young']);
      await store.finish(await store.claimOne());
      await append(store.database, [event('last')], store.world.now() + 10);
      await prune();
      await prune();
      assert.ok(!(await left()).includes('kept'));
    },
  ],
  [
    'nothing behind the first young event is read',
    async (store) => {
      await append(store.database, [event('young')], 10);
      await append(store.database, [event('old'), event('newest')], 1);
      const pruned = await store.database.write((transaction) =>
        pruneEvents(transaction, { before: 5, limit: 100 }),
      );
      assert.equal(pruned, 0);
    },
  ],
];
