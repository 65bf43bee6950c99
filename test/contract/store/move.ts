/** Every move of the table, tried on an item at every place, by the function that makes it. */
import assert from 'node:assert/strict';
import { stepTable } from '../../../src/kernel/lifecycle/item.ts';
import {
  type ItemMoveName,
  type ItemPlace,
  isOpenPlace,
  itemMoveNames,
  itemMoves,
  itemWait,
  placeOfItem,
  waitAt,
} from '../../../src/kernel/lifecycle/item-wait.ts';
import { targets } from '../../../src/kernel/lifecycle/machine.ts';
import type { Transaction } from '../../../src/store/driver/database.ts';
import {
  admit,
  cancelLocked,
  discard,
  failOpen,
  failUnheld,
  pauseLocked,
  resumeLocked,
  retry,
  wakeFromTask,
  wakeItems,
} from '../../../src/store/item/interventions.ts';
import { handBack, takeLeases } from '../../../src/store/item/lost-leases.ts';
import { recordClaim } from '../../../src/store/item/queues.ts';
import { gateBit, type Move } from '../../../src/store/item/reports.ts';
import type { StoreFixture, StoreTest } from '../../support/store-fixture.ts';

interface Subject {
  readonly id: number;
  readonly jobId: number;
  readonly rank: number;
}

type Run = (store: StoreFixture, subject: Subject) => Promise<unknown>;

const epoch = 5;
const worker = 'worker';
/** The last step is missing, so that one report may finish the item. */
const progress = stepTable.slice(0, -1).reduce((set, { bit }) => set | (1 << bit), 0);
const complete = progress | (1 << (stepTable.at(-1)?.bit ?? 0));
const failedError = { code: 'http_404', error_code: 'http_404', stage: 'scraping' };

const write =
  (work: (transaction: Transaction, subject: Subject, now: number) => Promise<unknown>): Run =>
  (store, subject) =>
    store.database.write((transaction) => work(transaction, subject, store.world.now()));

const report =
  (move: Move, expect = progress): Run =>
  (store, { id, jobId, rank }) => {
    const lease = { itemId: id, jobId, worker, epoch, rank, gate: null };
    return store.apply([{ lease, expect, move, events: [] }]);
  };

const again = (move: 'retry' | 'restart'): Run =>
  write((transaction, { id, rank }, now) => {
    const item = { id, rank, step: 'indexed', gate: null, waitsOn: 'turn' as const };
    return retry(transaction, { move, items: [item], now });
  });

const ending = ({ id, rank }: Subject) => ({
  ...{ id, rank, lone_deaths: 0, attempt: 1 },
  error: JSON.stringify(failedError),
});

/** How each move is made. A queue may have a row of an item that has moved since. */
const runs: Readonly<Record<Exclude<ItemMoveName, 'submit'>, Run>> = {
  claim: async (store, { id, rank }) => {
    await store.rows('INSERT INTO turns (rank, item_id) VALUES (:rank, :id)', { rank, id });
    return store.claim(1, worker);
  },
  advance: report({ to: 'advance', progress }),
  finish: report({ to: 'advance', progress: complete }),
  delay: report({ to: 'time', dueAt: 9e12, attempt: 1 }),
  give_back: report({ to: 'turn' }),
  defer: report({ to: 'task' }),
  fail: report({ to: 'failed', attempt: 1, error: failedError }),
  hand_back: write((transaction, { id }) => handBack(transaction, [{ id, epoch }])),
  admit: write((transaction, { id, rank }) => admit(transaction, [{ id, rank, dueAt: null }])),
  wake: async (store, { id }) => {
    await store.rows('INSERT INTO timers (due_at, item_id) VALUES (1, :id)', { id });
    const page = { now: store.world.now(), limit: 9, gateBit: gateBit(store.lifecycle) };
    return store.database.write((transaction) => wakeItems(transaction, page));
  },
  expire: write((transaction, subject, now) => failOpen(transaction, [ending(subject)], now)),
  answer: write((transaction, { id }) => wakeFromTask(transaction, [id])),
  rescue: write(async (transaction, { id }) => {
    await recordClaim(transaction, worker, JSON.stringify([id]));
    return takeLeases(transaction, { worker, isDead: true });
  }),
  condemn: write((transaction, subject, now) => failUnheld(transaction, [ending(subject)], now)),
  cancel: write((transaction, subject, now) => cancelLocked(transaction, [subject], now)),
  pause: write((transaction, subject) => pauseLocked(transaction, [subject])),
  resume: write((transaction, subject) => resumeLocked(transaction, [subject], 1)),
  restart: again('restart'),
  retry: again('retry'),
  discard: write((transaction, { id }, now) => discard(transaction, [id], now)),
};

const queues = ['turns', 'suspects', 'service_queue', 'timers', 'lines', 'claims'];

/** Puts the one item of a new job at a place, as if moves had led it there. */
async function putAt(store: StoreFixture, place: ItemPlace, state: string): Promise<Subject> {
  const { ids } = await store.submit();
  const { id, job_id: jobId, rank } = await store.item(ids[0]);
  for (const queue of queues) await store.rows(`DELETE FROM ${queue}`);
  await store.rows('UPDATE jobs SET state = :state WHERE id = :id', { state, id: jobId });
  await store.rows(
    `UPDATE items SET waits_on = :waits_on, step = :step, progress = :progress, epoch = :epoch,
      worker = :worker WHERE id = :id`,
    {
      waits_on: waitAt(place),
      step: isOpenPlace(place) ? 'indexed' : place,
      progress: place === 'done' ? complete : progress,
      epoch,
      worker: place === 'worker' ? worker : null,
      id,
    },
  );
  return { id, jobId, rank };
}

async function tryMove(
  store: StoreFixture,
  move: keyof typeof runs,
  { place, state }: { readonly place: ItemPlace; readonly state: string },
) {
  const subject = await putAt(store, place, state);
  await runs[move](store, subject);
  const row = await store.item(subject.id);
  const found = placeOfItem(row);
  assert.ok(found, `${move} from ${place} left the item without a place`);
  return { place: found, epoch: row.epoch, worker: row.worker };
}

const moves = itemMoveNames.filter((name) => name !== 'submit');

export const moveTests: readonly StoreTest[] = [
  ...moves.map(
    (move): StoreTest => [
      `the move ${move} changes an item exactly where the table has it`,
      async (store) => {
        for (const place of itemWait.states) {
          const found = await tryMove(store, move, { place, state: 'running' });
          const allowed = targets(itemWait, place, move);
          const what = `${move} from ${place}`;
          if (allowed.length === 0) {
            const before = { place, epoch, worker: place === 'worker' ? worker : null };
            assert.deepEqual(found, before, what);
          } else {
            assert.ok(allowed.includes(found.place), `${what} led to ${found.place}`);
            const raised = itemMoves[move].epoch === 'raise' ? 1 : 0;
            assert.equal(found.epoch, epoch + raised, what);
            assert.equal(found.worker, found.place === 'worker' ? worker : null, what);
          }
        }
      },
    ],
  ),
  [
    'a move that needs a working job is refused once the job is stopped',
    async (store) => {
      for (const move of moves) {
        const [place] = itemMoves[move].from;
        assert.ok(place);
        const found = await tryMove(store, move, { place, state: 'paused' });
        const isRefused = itemMoves[move].job === 'works';
        assert.equal(found.epoch === epoch && found.place === place, isRefused, move);
      }
    },
  ],
];
