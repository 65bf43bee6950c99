import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import { listWorkers } from '../../../src/store/item/workers.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { ledgerOver as over } from '../../support/ledger-over.ts';
import { makeLatch } from '../../support/test-world.ts';

const hang: StepFunction = () => new Promise(() => undefined);

async function workers(bench: EngineFixture): Promise<string[]> {
  const ids = (await listWorkers(bench.store.database)).map(({ id }) => id);
  return ids.filter((id) => id !== 'worker');
}

export const handoverTests: readonly EngineTest[] = [
  [
    'a graceful stop returns everything, and the next engine continues without using a try',
    async (bench) => {
      const first = await bench.start({ embedded: hang });
      const job = await bench.store.submit({ items: 3 });
      await bench.world.until(
        'all to hang',
        () => bench.runs.filter((step) => step === 'embedded').length === 3,
      );
      await bench.world.settle();
      await bench.stop(first);
      const items = await Promise.all(job.ids.map((id) => bench.store.item(id)));
      assert.ok(
        items.every((item) => item.waits_on === 'turn' && item.attempt + item.crashes === 0),
      );
      assert.deepEqual(await workers(bench), []);
      assert.equal((await bench.store.queues()).claims, 0);
      bench.runs.length = 0;
      await bench.start();
      await bench.untilJob(job, 'succeeded');
      assert.equal(bench.runs.includes('fetched'), false);
      assert.ok(Object.values(await bench.completions()).every((count) => count === 1));
    },
  ],
  [
    'items of a dead engine are taken over at the next start, and charged until they commit',
    async (bench) => {
      const first = await bench.start({ embedded: hang }, { pid: 7 });
      const job = await bench.store.submit();
      await bench.untilStory('step_completed entity_extracted');
      bench.abandon(first);
      bench.store.livingPids.delete(7);
      await bench.start({}, { pid: 8 });
      await bench.untilJob(job, 'succeeded');
      const lost = "SELECT detail FROM events WHERE kind = 'lease_lost'";
      const [event] = await bench.store.rows<{ detail: string }>(lost);
      assert.equal(JSON.parse(event?.detail ?? '{}').crashes, 1);
      assert.equal((await bench.store.item(job.ids[0])).crashes, 0);
      assert.ok((await bench.store.story()).includes('lease_lost chunked'));
    },
  ],
  [
    'a worker that was given up while asleep aborts its work, registers again, and continues',
    async (bench) => {
      const reasons: unknown[] = [];
      let calls = 0;
      const embedded: StepFunction = async ({ signal }) => {
        calls++;
        if (calls > 1) return {};
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise(() => undefined);
      };
      const engine = await bench.start({ embedded });
      const job = await bench.store.submit();
      await bench.untilStory('step_completed entity_extracted');
      bench.world.skip(limits.lease.ttlMs + 1);
      await bench.store.rescue('worker');
      assert.deepEqual(await workers(bench), []);
      await bench.untilJob(job, 'succeeded');
      await bench.world.advance(limits.lease.heartbeatMs);
      assert.deepEqual(reasons, ['lost']);
      assert.deepEqual(await workers(bench), [engine.worker]);
      assert.ok(Object.values(await bench.completions()).every((count) => count === 1));
    },
  ],
  [
    'an item whose report was stored but not acknowledged is returned, and continues',
    async (bench) => {
      let lost = false;
      await bench.start(
        {},
        {
          ledger: (own) =>
            over(own, {
              report: async (report) => {
                const verdict = await own.report(report);
                const isFirst = !lost && report.events.some(({ step }) => step === 'fetched');
                lost ||= isFirst;
                if (isFirst) throw new Error('the connection was reset');
                return verdict;
              },
            }),
        },
      );
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.match(bench.errors[0] ?? '', /executor: .*reset/);
      assert.equal((await bench.store.item(job.ids[0])).crashes, 0);
      assert.equal(bench.runs.filter((step) => step === 'fetched').length, 1);
      assert.ok(Object.values(await bench.completions()).every((count) => count === 1));
    },
  ],
  [
    'items whose claim was stored but not acknowledged are returned, and continue',
    async (bench) => {
      let lost = false;
      await bench.start(
        {},
        {
          ledger: (own) =>
            over(own, {
              claim: async (worker, take) => {
                const rows = await own.claim(worker, take);
                if (lost) return rows;
                lost = true;
                throw new Error('the connection was reset');
              },
            }),
        },
      );
      const job = await bench.store.submit({ items: 3 });
      await bench.untilJob(job, 'succeeded');
      const items = await Promise.all(job.ids.map((id) => bench.store.item(id)));
      assert.ok(items.every(({ attempt, crashes }) => attempt + crashes === 0));
    },
  ],
  [
    'a worker whose heartbeat fails stops its work before others may take it',
    async (bench) => {
      const reasons: unknown[] = [];
      const embedded: StepFunction = ({ signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return new Promise(() => undefined);
      };
      let isDeaf = false;
      await bench.start(
        { embedded },
        {
          ledger: (own) =>
            over(own, {
              beat: (worker) => (isDeaf ? Promise.reject(new Error('deaf')) : own.beat(worker)),
              leases: (worker) => (isDeaf ? Promise.reject(new Error('deaf')) : own.leases(worker)),
            }),
        },
      );
      await bench.store.submit();
      await bench.untilStory('step_completed entity_extracted');
      isDeaf = true;
      await bench.world.advance(limits.lease.ttlMs - 1);
      assert.deepEqual(reasons, ['lost']);
    },
  ],
  [
    'two engines on one store share the work, and no step is completed twice',
    async (bench) => {
      const another = (await bench.store.openAnother?.()) ?? bench.store.database;
      const byPid = new Map<number, number>();
      const both = makeLatch();
      const stepOf =
        (pid: number): StepFunction =>
        async () => {
          byPid.set(pid, (byPid.get(pid) ?? 0) + 1);
          if (byPid.size === 2) both.open();
          await both.opened;
          return {};
        };
      await bench.start({ fetched: stepOf(1) }, { pid: 1, places: 4 });
      await bench.start({ fetched: stepOf(2) }, { pid: 2, places: 4, database: another });
      const job = await bench.store.submit({ items: 40 });
      await bench.untilJob(job, 'succeeded');
      const completions = await bench.completions();
      assert.equal(Object.keys(completions).length, 40 * 8);
      assert.ok(Object.values(completions).every((count) => count === 1));
      assert.equal((byPid.get(1) ?? 0) + (byPid.get(2) ?? 0), 40);
      assert.deepEqual(bench.errors, []);
    },
  ],
];
