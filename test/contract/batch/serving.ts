/** Processes with different settings on one store, and providers that hang. */
import assert from 'node:assert/strict';
import { BatchRunner } from '../../../src/engine/batch/runner.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { openaiBatches } from '../../../src/provider/batch/vendor/openai.ts';
import { BatchFixture, endpointOf } from '../../support/batch/fixture.ts';
import { OpenaiServer } from '../../support/batch/openai-server.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { completions, recordings } from './submission.ts';

/** A process on the same store that has none of the providers. */
function stranger(bench: BatchBench): BatchFixture {
  return new BatchFixture(bench.store, []);
}

const twoModels = { ...completions, models: ['gpt-4o-mini', 'other-mini'] };

/** A process with a second provider that has its own models. */
async function withOther(bench: BatchBench) {
  const other = new OpenaiServer();
  await other.start(bench.cleanup);
  const provider = { ...openaiBatches(endpointOf(other.url)), name: 'OTHER', models: /^other-/ };
  const providers = [...bench.options.providers.all, provider];
  return { other, fixture: new BatchFixture(bench.store, providers) };
}

export const servingTests: readonly BatchTest[] = [
  [
    'a process without the provider neither submits, polls, fails nor cancels its tasks',
    async (bench) => {
      const other = stranger(bench);
      const pending = await bench.submit(completions);
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
    'a task that no process serves fails after 26 hours, and is canceled when its provider is back',
    async (bench) => {
      bench.openai.pollsToGo = 10_000;
      const key = await bench.submit(completions);
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
      const key = await bench.submit(completions);
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
    'a hanging provider delays neither the submissions nor the polls of another',
    async (bench) => {
      const hangs = () => undefined;
      bench.azure.server.trouble({ on: /^POST .*transcriptions/, reply: hangs });
      const options = { ...bench.options, onError: () => undefined };
      const runner = new BatchRunner({ ...options, pollIntervalMs: 0 });
      await runner.start();
      try {
        await runner.commands.submit('ann', recordings);
        await bench.store.world.until('the first to hang', () => bench.azure.server.count(/./) > 0);
        const { key } = await runner.commands.submit('ann', completions);
        await bench.store.world.until('the other to end', async () => {
          return (await bench.task(key)).state === 'completed';
        });
      } finally {
        await runner.stop();
      }
    },
  ],
  [
    'in a task for two providers, neither waits for the other to be submitted',
    async (bench) => {
      const { fixture, other } = await withOther(bench);
      bench.openai.server.trouble({ on: /^POST .*files/, reply: () => undefined });
      const runner = new BatchRunner(fixture.options);
      await runner.start();
      try {
        await runner.commands.submit('ann', twoModels);
        await bench.store.world.until('the other', () => other.batches.size === 1);
      } finally {
        await runner.stop();
      }
    },
  ],
  [
    'in a task for two providers, jobs of one are kept while the other limits the rate',
    async (bench) => {
      const { fixture, other } = await withOther(bench);
      const headers = { 'retry-after': '900' };
      const reply = { status: 429, headers };
      bench.openai.server.trouble({ on: /^POST .*files/, reply });
      const key = await fixture.submit(twoModels);
      await fixture.deliver();
      assert.equal((await fixture.task(key)).state, 'pending');
      assert.equal(other.batches.size, 1);
      bench.store.world.skip(900_000);
      await fixture.deliver();
      const ids = (await fixture.state(key)).jobs.map((job) => job.external_job_id);
      assert.deepEqual(ids, ['batch_1', 'batch_1']);
      assert.deepEqual([bench.openai.batches.size, other.batches.size], [1, 1]);
    },
  ],
  [
    'a hanging result does not delay other tasks of its provider',
    async (bench) => {
      const slow = await bench.submit(completions);
      const runner = new BatchRunner({ ...bench.options, pollIntervalMs: 0 });
      bench.openai.server.trouble({ on: /out-batch_1\/content$/, reply: () => undefined });
      await runner.start();
      try {
        const { world } = bench.store;
        await world.until('the result to hang', () => bench.openai.server.count(/content$/) > 0);
        const { key } = await runner.commands.submit('ann', completions);
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
