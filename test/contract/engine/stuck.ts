/** Items that make no progress, and items that only seem to. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { Scene } from '../../support/handoff-scene.ts';

const { stageStuckMs, sweepIntervalMs } = limits.loop;
const timeoutMs = 24 * 60 * 60 * 1000;

const never: StepFunction = () => new Promise(() => undefined);

/** Lets time pass in steps that are shorter than a lease, with activity in between. */
async function pass(bench: EngineFixture, durationMs: number, each?: () => Promise<void>) {
  const stepMs = 60_000;
  for (let passed = 0; passed < durationMs; passed += stepMs) {
    bench.world.skip(stepMs - 2000);
    await bench.world.advance(2000);
    await each?.();
  }
}

async function lost(bench: EngineFixture) {
  const events = await bench.store.events();
  return events.filter(({ kind }) => kind === 'lease_lost').map(({ detail }) => detail?.code);
}

export const stuckTests: readonly EngineTest[] = [
  [
    'an item without progress for half an hour is queued again, and continues',
    async (bench) => {
      let calls = 0;
      const fetched: StepFunction = (context) =>
        calls++ === 0 ? never(context) : Promise.resolve({});
      await bench.start({ fetched }, { timeoutMs });
      const job = await bench.store.submit();
      await pass(bench, stageStuckMs - 2 * sweepIntervalMs);
      assert.deepEqual([calls, await lost(bench)], [1, []]);
      await pass(bench, 4 * sweepIntervalMs);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual([calls, await lost(bench)], [2, ['stage_stuck']]);
    },
  ],
  [
    'an item without progress at every try fails, with the reason',
    async (bench) => {
      await bench.start({ fetched: never }, { timeoutMs });
      const job = await bench.store.submit();
      await pass(bench, limits.lease.stallsMax * (stageStuckMs + 3 * sweepIntervalMs));
      await bench.untilJob(job, 'failed');
      const error = JSON.parse((await bench.store.item(job.ids[0])).error ?? '{}');
      assert.deepEqual([error.code, error.stage], ['stage_stuck', 'scraping']);
      assert.match(error.message, /started 3 times and made no progress for 30 min/);
    },
  ],
  [
    'an item with a remote worker is not stuck, however long it waits there',
    async (bench) => {
      const scene = new Scene(bench);
      await scene.start();
      const job = await bench.store.submit();
      const { jobId, handoff, begun, complete } = await scene.beginOne();
      await pass(bench, stageStuckMs + 4 * sweepIntervalMs, async () => {
        const { epoch } = begun;
        assert.equal(await scene.callbacks.beat(jobId, { handoff, epoch }), true);
      });
      assert.deepEqual(await lost(bench), []);
      assert.deepEqual(await complete(), { status: 'chunking' });
      await bench.untilJob(job, 'succeeded');
      assert.equal(scene.queue.added.length, 1);
    },
  ],
];
