import assert from 'node:assert/strict';
import { endOverdue } from '../../../src/engine/item/deadline.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';

const minute = 60_000;
const hang: StepFunction = () => new Promise(() => undefined);

/** The history of a timeout: one entry for the job, then one for each item. */
async function overdueStory(bench: EngineFixture): Promise<string[]> {
  return (await bench.store.story()).filter((line) => /^(job_overdue|item_failed)/.test(line));
}

async function endNow({ store }: EngineFixture): Promise<number[]> {
  const revoked: number[] = [];
  const { database, lifecycle } = store;
  await endOverdue({ database, lifecycle, revoke: (ids) => revoked.push(...ids) });
  return revoked;
}

export const deadlineTests: readonly EngineTest[] = [
  [
    'open items of a timed-out job fail with advice, and done items stay',
    async (bench) => {
      const reasons: unknown[] = [];
      const late = makeLatch();
      const embedded: StepFunction = async ({ item, signal }) => {
        if (item.source === 'quick') return {};
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        await late.opened;
        return {};
      };
      await bench.start({ embedded });
      const sources = ['quick', 'slow'].map((source) => ({ kind: 'inline' as const, source }));
      const job = await bench.store.submit({ sources, maxWallSeconds: 60 });
      await bench.world.until('the quick one to be done', async () => {
        return (await bench.store.job(job.key)).items_done === 1;
      });
      const { started_at, deadline_at } = await bench.store.job(job.key);
      assert.equal(deadline_at, (started_at ?? 0) + minute);
      await bench.untilJob(job, 'succeeded');
      assert.ok(bench.world.now() - (deadline_at ?? 0) <= limits.loop.rescueIntervalMs);
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.items_done, row.items_failed, row.deadline_at], [1, 1, null]);
      const { error, step, waits_on, worker } = await bench.store.item(job.ids[1]);
      assert.deepEqual([step, waits_on, worker], ['failed', null, null]);
      const { code, error_code, message, stage, context } = JSON.parse(error ?? '{}');
      assert.deepEqual([code, error_code, stage], ['timeout_hard', 'E_TIMEOUT', 'embedding']);
      assert.equal(message, 'the job ran for longer than its 60 s');
      assert.deepEqual([context.url, context.attempt], ['slow', 1]);
      assert.deepEqual(await overdueStory(bench), ['job_overdue', 'item_failed embedded']);
      assert.equal(reasons.length, 1, 'the step was aborted');
      late.open();
      await bench.world.settle();
      assert.equal((await bench.store.item(job.ids[1])).step, 'failed');
    },
  ],
  [
    'it ends an item in every state, and frees its slot at the gate',
    async (bench) => {
      const retrying: StepFunction = async ({ item }) => {
        if (item.source === 'again')
          throw new Failure('rate_limited', 'later', { retryAfterMs: 9e5 });
        return {};
      };
      await bench.start({ chunked: retrying, fetched: hangAtGate }, { places: 2 });
      const gate = 'site.example';
      const gated = Array.from({ length: 12 }, (_, index) => ({
        kind: 'url' as const,
        source: `https://site.example/${index}`,
        gate,
      }));
      const again = { kind: 'inline' as const, source: 'again' };
      const job = await bench.store.submit({ sources: [again, ...gated], maxWallSeconds: 60 });
      const other = await bench.store.submit({
        caller: 'bob',
        sources: [{ kind: 'url', source: 'https://site.example/next', gate }],
      });
      await bench.untilJob(job, 'failed');
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.items_failed, row.items_waiting], [13, 0]);
      assert.equal(row.failed_stage, 'chunking');
      assert.equal((await overdueStory(bench)).length, 14);
      assert.equal(await bench.store.withoutCause(), 0);
      await bench.untilJob(other, 'succeeded');
    },
  ],
  [
    'the clock stops while a job is queued or paused, and restarts with resume and retry',
    async (bench) => {
      const job = await bench.store.submit({ maxWallSeconds: 60 });
      await bench.world.advance(5 * minute);
      assert.equal((await bench.store.job(job.key)).deadline_at, null);
      const engine = await bench.start({ embedded: hang });
      await bench.untilStory('step_started embedded');
      await bench.world.advance(minute / 2);
      await engine.commands.pause('ann', job.key);
      await bench.world.advance(5 * minute);
      assert.equal((await bench.store.job(job.key)).state, 'paused');
      await engine.commands.resume('ann', job.key);
      const resumedAt = bench.world.now();
      await bench.untilJob(job, 'failed');
      assert.ok(bench.world.now() - resumedAt >= minute);
      await engine.commands.retry('ann', job.key);
      const retriedAt = bench.world.now();
      await bench.untilJob(job, 'running');
      await bench.untilJob(job, 'failed');
      assert.ok(bench.world.now() - retriedAt >= minute);
    },
  ],
  [
    'a job that waits for a retry has no more time than one that runs',
    async (bench) => {
      const embedded: StepFunction = async () => {
        throw new Failure('rate_limited', 'later', { retryAfterMs: 45_000 });
      };
      await bench.start({ embedded });
      const job = await bench.store.submit({ maxWallSeconds: 100 });
      await bench.untilJob(job, 'retry_pending');
      const { started_at } = await bench.store.job(job.key);
      await bench.untilJob(job, 'failed');
      const ranMs = bench.world.now() - (started_at ?? 0);
      assert.ok(ranMs >= 100_000 && ranMs <= 102_000, `${ranMs} ms`);
    },
  ],
  [
    'of two processes that see it at once, one ends the job, and it is reported once',
    async (bench) => {
      const job = await bench.store.submit({ items: 3, maxWallSeconds: 1 });
      await bench.store.claim(2);
      bench.world.skip(2000);
      const taken = await Promise.all([endNow(bench), endNow(bench)]);
      assert.deepEqual(taken.flat().toSorted(), [...job.ids].toSorted());
      assert.deepEqual(
        (await overdueStory(bench)).map((line) => line.split(' ')[0]),
        ['job_overdue', 'item_failed', 'item_failed', 'item_failed'],
      );
      assert.equal((await bench.store.job(job.key)).state, 'failed');
    },
  ],
  [
    'a job larger than one transaction is ended completely, and reported once',
    async (bench) => {
      const items = limits.loop.pruneBatchMax + 10;
      const job = await bench.store.submit({ items, maxWallSeconds: 1 });
      await bench.store.claim(1);
      bench.world.skip(2000);
      assert.equal((await endNow(bench)).length, items);
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.state, row.items_failed], ['failed', items]);
      assert.equal((await overdueStory(bench)).length, items + 1);
      assert.equal((await bench.store.queues()).turns, 0);
    },
  ],
  [
    'a time limit out of range is refused',
    async (bench) => {
      for (const maxWallSeconds of [0, 1.5, -1, Number.NaN, 7 * 24 * 3600 + 1]) {
        const refused = bench.store.submit({ maxWallSeconds });
        await assert.rejects(refused, /max_wall_seconds must be a whole number from 1 to/);
      }
    },
  ],
];

/** Items of the first job hang; the next one at the gate gets through. */
const hangAtGate: StepFunction = (context) =>
  /\d$/.test(context.item.source) ? hang(context) : Promise.resolve({});
