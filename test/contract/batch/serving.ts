/** Processes with different settings on one store, and providers that hang. */
import assert from 'node:assert/strict';
import { BatchRunner } from '../../../src/engine/batch-runner.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { BatchFixture } from '../../support/batch/fixture.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { questions, recordings } from './submission.ts';

/** A process on the same store that has none of the providers. */
function stranger(bench: BatchBench): BatchFixture {
  return new BatchFixture(bench.store, []);
}

export const servingTests: readonly BatchTest[] = [
  [
    'a process without the provider neither submits, polls, fails nor cancels its tasks',
    async (bench) => {
      const other = stranger(bench);
      const pending = await bench.submit(questions);
      await other.deliver();
      assert.equal((await bench.task(pending)).state, 'pending');
      await bench.deliver();
      const before = await bench.task(pending);
      await other.poll(2);
      assert.deepEqual(await bench.task(pending), before);
      await bench.commands.cancel('ann', pending);
      await other.poll(2);
      assert.equal((await bench.task(pending)).is_cancel_due, 1);
      await bench.poll();
      assert.equal((await bench.task(pending)).is_cancel_due, 0);
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, true);
    },
  ],
  [
    'a task that nobody serves fails after 26 hours, and is canceled when its provider is back',
    async (bench) => {
      bench.openai.pollsToGo = 10_000;
      const key = await bench.submit(questions);
      await bench.deliver();
      bench.store.world.skip(limits.batch.taskAgeMsMax);
      const other = stranger(bench);
      await other.poll();
      assert.equal((await bench.task(key)).state, 'failed');
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, false);
      await other.poll(3);
      assert.equal((await bench.task(key)).is_cancel_due, 1);
      await bench.poll();
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, true);
      assert.equal((await bench.task(key)).is_cancel_due, 0);
    },
  ],
  [
    'completions of an older store go to a process that has their provider',
    async (bench) => {
      const key = await bench.submit(questions);
      await bench.store.database.write((transaction) =>
        transaction.run({ text: 'UPDATE batch_tasks SET served_by = NULL' }),
      );
      await stranger(bench).deliver();
      assert.equal((await bench.task(key)).state, 'pending');
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'in_progress');
      assert.equal((await bench.task(key)).served_by, 'OPENAI');
    },
  ],
  [
    'a provider that hangs delays neither the submissions nor the polls of another',
    async (bench) => {
      const hangs = () => undefined;
      bench.azure.server.trouble({ on: /^POST .*transcriptions/, reply: hangs });
      const options = { ...bench.options, onError: () => undefined };
      const runner = new BatchRunner({ ...options, pollIntervalMs: 0 });
      await runner.start();
      try {
        await runner.commands.submit('ann', recordings);
        await bench.store.world.until('the first to hang', () => bench.azure.server.count(/./) > 0);
        const { key } = await runner.commands.submit('ann', questions);
        await bench.store.world.until('the other to end', async () => {
          return (await bench.task(key)).state === 'completed';
        });
      } finally {
        await runner.stop();
      }
    },
  ],
  [
    'a result that hangs does not delay other tasks of its provider',
    async (bench) => {
      const slow = await bench.submit(questions);
      const runner = new BatchRunner({ ...bench.options, pollIntervalMs: 0 });
      bench.openai.server.trouble({ on: /out-batch_1\/content$/, reply: () => undefined });
      await runner.start();
      try {
        const { world } = bench.store;
        await world.until('the result to hang', () => bench.openai.server.count(/content$/) > 0);
        const { key } = await runner.commands.submit('ann', questions);
        await world.until('the other to end', async () => {
          return (await bench.task(key)).state === 'completed';
        });
        assert.equal((await bench.task(slow)).state, 'in_progress');
      } finally {
        await runner.stop();
      }
    },
  ],
];
