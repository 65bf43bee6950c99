import assert from 'node:assert/strict';
import { CommitSignal } from '../../../src/engine/commit-signal.ts';
import { Relay } from '../../../src/engine/relay.ts';
import type { Event } from '../../../src/observe/event.ts';
import { appendEvents, newestSequence } from '../../../src/store/delivery/events.ts';
import type { Database } from '../../../src/store/driver/database.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';

function append({ store }: EngineFixture, count: number): Promise<unknown> {
  const events = Array.from({ length: count }, () => ({ kind: 'job_accepted' as const, jobId: 1 }));
  return store.database.write((transaction) => appendEvents(transaction, events, 1));
}

/** A listener that records the sequence numbers it receives. */
function recorder() {
  const heard: number[] = [];
  const listener = (events: readonly Event[]): void => {
    heard.push(...events.map(({ seq }) => seq));
  };
  return { heard, listener };
}

function makeRelay(bench: EngineFixture, database: Database = bench.store.database) {
  const commitSignal = new CommitSignal();
  const onError = (): void => undefined;
  const relay = new Relay({ database, world: bench.world, commitSignal, onError });
  bench.store.onRelease(() => relay.close());
  return { commitSignal, relay };
}

const upTo = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

export const relayTests: readonly EngineTest[] = [
  [
    'every listener gets every event after its own start, once, in order',
    async (bench) => {
      const engine = await bench.start();
      const early = recorder();
      const late = recorder();
      await bench.store.submit();
      await bench.world.settle();
      const start = await engine.relay.listen(early.listener);
      const job = await bench.store.submit({ items: 30 });
      await bench.world.settle();
      const middle = await engine.relay.listen(late.listener);
      const last = await bench.store.submit({ items: 30 });
      await bench.untilJob(job, 'succeeded');
      await bench.untilJob(last, 'succeeded');
      await bench.world.advance(1000);
      const newest = await newestSequence(bench.store.database);
      assert.deepEqual(early.heard, upTo(start.after + 1, newest));
      assert.deepEqual(late.heard, upTo(middle.after + 1, newest));
    },
  ],
  [
    'events of another process arrive within the poll interval',
    async (bench) => {
      const { relay } = makeRelay(bench);
      const { heard, listener } = recorder();
      await relay.listen(listener);
      await append(bench, 3);
      await bench.world.advance(300);
      assert.deepEqual(heard, [1, 2, 3]);
    },
  ],
  [
    'what was committed before the relay closes is heard, signaled or not',
    async (bench) => {
      const { relay, commitSignal } = makeRelay(bench);
      const { heard, listener } = recorder();
      await relay.listen(listener);
      await append(bench, 2);
      commitSignal.ring('news');
      await append(bench, 1);
      await relay.close();
      assert.deepEqual(heard, [1, 2, 3]);
    },
  ],
  [
    'more events than a page holds come in order, page by page',
    async (bench) => {
      const { relay, commitSignal } = makeRelay(bench);
      const { heard, listener } = recorder();
      await relay.listen(listener);
      await append(bench, 2500);
      commitSignal.ring('news');
      await bench.world.settle();
      assert.deepEqual(heard, upTo(1, 2500));
    },
  ],
  [
    'a stopped listener gets nothing more, and no poll is left',
    async (bench) => {
      const { relay, commitSignal } = makeRelay(bench);
      const { heard, listener } = recorder();
      const { stop } = await relay.listen(listener);
      stop();
      await append(bench, 1);
      commitSignal.ring('news');
      await bench.world.settle();
      assert.deepEqual(heard, []);
      assert.equal(bench.world.pendingTimers, 0);
    },
  ],
  [
    'concurrent new listeners miss nothing and get nothing twice',
    async (bench) => {
      const slow = makeLatch();
      const { database } = bench.store;
      let asked = 0;
      const late: Database = {
        ...database,
        run: async (statement, parameters) => {
          const rows = await database.run(statement, parameters);
          if (statement.text.includes('FROM sequence') && ++asked === 2) await slow.opened;
          return rows;
        },
      };
      const { relay, commitSignal } = makeRelay(bench, late);
      const [one, two] = [recorder(), recorder()];
      const both = [relay.listen(one.listener), relay.listen(two.listener)] as const;
      await both[0];
      await append(bench, 3);
      commitSignal.ring('news');
      await bench.world.settle();
      slow.open();
      await both[1];
      await append(bench, 2);
      commitSignal.ring('news');
      await bench.world.settle();
      assert.deepEqual(one.heard, [1, 2, 3, 4, 5]);
      assert.deepEqual(two.heard, upTo((await both[1]).after + 1, 5));
    },
  ],
  [
    'a failed read of the log is repaired by the next',
    async (bench) => {
      const { database } = bench.store;
      let isDown = false;
      const shaky: Database = {
        ...database,
        run: (statement, parameters) =>
          isDown ? Promise.reject(new Error('down')) : database.run(statement, parameters),
      };
      const { relay, commitSignal } = makeRelay(bench, shaky);
      const { heard, listener } = recorder();
      await relay.listen(listener);
      await append(bench, 2);
      isDown = true;
      commitSignal.ring('news');
      await bench.world.settle();
      isDown = false;
      await bench.world.advance(1000);
      assert.deepEqual(heard, [1, 2]);
    },
  ],
];
