import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { readBatchGauges } from '../../../src/store/batch/gauges.ts';
import { findBatchTasks, insertBatchTask } from '../../../src/store/batch/tasks.ts';
import { reconcile } from '../../support/batch/rounds.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { completions, recordings } from './submission.ts';

async function begin(bench: BatchBench, body: unknown): Promise<string> {
  const key = await bench.submit(body);
  await bench.deliver();
  return key;
}

const [one, two] = recordings.urls;

export const lifecycleTests: readonly BatchTest[] = [
  [
    'a task is found by the beginning of its id, in lower or upper case',
    async (bench) => {
      const key = 'abcdef00-0000-4000-8000-000000000000';
      const { database } = bench.store;
      await database.write((transaction) =>
        insertBatchTask(transaction, {
          ...{ key, caller: 'ann', taskType: 'completion', provider: null, input: {} },
          servedBy: 'OPENAI',
          now: database.now(),
        }),
      );
      for (const start of ['abcdef', 'ABCDEF', key.toUpperCase()]) {
        const found = await findBatchTasks(database, 'ann', start);
        assert.deepEqual(
          found.map((row) => row.key),
          [key],
        );
      }
    },
  ],
  [
    'a transcription moves state by state from submitted to completed',
    async (bench) => {
      const key = await begin(bench, recordings);
      const seen = [(await bench.state(key)).jobs[0]?.status];
      for (let poll = 0; poll < 3; poll += 1) {
        await bench.poll();
        seen.push((await bench.state(key)).jobs[0]?.status);
      }
      assert.deepEqual(seen, ['SUBMITTED', 'RUNNING', 'RUNNING', 'COMPLETED']);
      const [job] = (await bench.state(key)).jobs;
      assert.deepEqual(Object.keys(job ?? {}).sort(), ['external_job_id', 'result', 'status']);
      assert.deepEqual(job?.result, [
        { id: two, source: two, text: `words of ${two}`, duration_ms: 4120 },
        { id: one, source: one, text: `words of ${one}`, duration_ms: 4120 },
      ]);
      assert.equal((await bench.task(key)).state, 'completed');
      assert.deepEqual(await bench.output(key), { transcriptions: job?.result });
      assert.deepEqual(await bench.story(), [
        'batch_task_created',
        'batch_task_submitted',
        'batch_task_polled',
        'batch_task_completed',
      ]);
    },
  ],
  [
    'a completion moves state by state, with its output under the name of the model',
    async (bench) => {
      const key = await begin(bench, completions);
      await bench.poll(3);
      const [job] = (await bench.state(key)).jobs;
      assert.equal(job?.status, 'COMPLETED');
      assert.match(job?.output_uri ?? '', /^blob:[0-9a-f]{64}$/);
      const row = await bench.task(key);
      assert.deepEqual(
        [row.state, row.results_ok, row.results_failed, row.tokens_in, row.tokens_out],
        ['completed', 3, 0, 300, 60],
      );
      const output = (await bench.output(key)) as Record<string, { completions: { id: string }[] }>;
      const lines = output['gpt-4o-mini']?.completions ?? [];
      assert.deepEqual(lines.map(({ id }) => id).sort(), ['one', 'three', 'two']);
    },
  ],
  [
    'one of two recordings fails: partial_complete, with its error in the result',
    async (bench) => {
      bench.azure.transcribe = (url) => (url === one ? { text: 'words' } : { error: 'bad audio' });
      const key = await begin(bench, recordings);
      await bench.poll(3);
      assert.equal((await bench.task(key)).state, 'partial_complete');
      const [job] = (await bench.state(key)).jobs;
      assert.deepEqual(
        job?.result?.find(({ id }) => id === two),
        { id: two, error: 'bad audio', retryable: false },
      );
    },
  ],
  [
    'all recordings fail: the task fails',
    async (bench) => {
      bench.azure.transcribe = () => ({ error: 'bad audio' });
      const key = await begin(bench, recordings);
      await bench.poll(3);
      assert.equal((await bench.task(key)).state, 'failed');
      assert.match((await bench.task(key)).error ?? '', /bad audio/);
    },
  ],
  [
    'two models, one of which fails: partial_complete',
    async (bench) => {
      const key = await begin(bench, { ...completions, models: ['gpt-4o-mini', 'gpt-4o'] });
      bench.openai.server.trouble({
        on: /^GET \/v1\/batches\/batch_2$/,
        reply: { body: { id: 'batch_2', status: 'failed', errors: { data: [{ message: 'no' }] } } },
      });
      await bench.poll(3);
      const statuses = (await bench.state(key)).jobs.map(({ status }) => status);
      assert.deepEqual(statuses, ['COMPLETED', 'FAILED']);
      assert.equal((await bench.task(key)).state, 'partial_complete');
      assert.deepEqual(Object.keys((await bench.output(key)) as object), ['gpt-4o-mini']);
    },
  ],
  [
    'a line fails: its model is PARTIAL_COMPLETE, and so is the task',
    async (bench) => {
      bench.openai.answer = ({ custom_id }) =>
        custom_id === 'two' ? { status: 400, message: 'no' } : { content: 'yes' };
      const key = await begin(bench, completions);
      await bench.poll(3);
      assert.equal((await bench.state(key)).jobs[0]?.status, 'PARTIAL_COMPLETE');
      assert.equal((await bench.task(key)).state, 'partial_complete');
    },
  ],
  [
    'no line succeeds: the task fails',
    async (bench) => {
      bench.openai.answer = () => ({ status: 500, message: 'no' });
      const key = await begin(bench, completions);
      await bench.poll(3);
      assert.equal((await bench.state(key)).jobs[0]?.status, 'FAILED');
      assert.equal((await bench.task(key)).state, 'failed');
    },
  ],
  [
    'two poll errors are survived, and counted',
    async (bench) => {
      const key = await begin(bench, recordings);
      bench.azure.server.trouble({ on: /^GET .*t-1$/, reply: { status: 500 }, times: 2 });
      await bench.poll(2);
      assert.equal((await bench.state(key)).jobs[0]?.transient_failures, 2);
      assert.equal((await bench.state(key)).jobs[0]?.status, 'SUBMITTED');
      await bench.poll();
      assert.equal((await bench.state(key)).jobs[0]?.transient_failures, 0);
      await bench.poll(2);
      assert.equal((await bench.task(key)).state, 'completed');
      const gauges = await readBatchGauges(bench.store.database, bench.store.world.now());
      assert.equal(gauges.pollErrors, 2);
      assert.equal(gauges.tasks.completed, 1);
    },
  ],
  [
    'the third poll error fails the job',
    async (bench) => {
      const key = await begin(bench, completions);
      bench.openai.server.trouble({ on: /^GET .*batch_1$/, reply: { status: 500 }, times: 3 });
      await bench.poll(2);
      assert.equal((await bench.task(key)).state, 'in_progress');
      await bench.poll();
      assert.deepEqual((await bench.state(key)).jobs[0], {
        model: 'gpt-4o-mini',
        status: 'FAILED',
        external_job_id: 'batch_1',
        transient_failures: 3,
        error: 'provider answered 500',
      });
      assert.equal((await bench.task(key)).state, 'failed');
    },
  ],
  [
    'a rate limit is not an error: the task is polled when it asks',
    async (bench) => {
      const key = await begin(bench, recordings);
      const headers = { 'retry-after': '600' };
      bench.azure.server.trouble({ on: /^GET .*t-1$/, reply: { status: 429, headers } });
      await bench.poll();
      const calls = bench.azure.server.calls.length;
      await bench.poll(4);
      assert.equal(bench.azure.server.calls.length, calls, 'it is not polled before that time');
      await bench.poll(5);
      assert.equal((await bench.state(key)).jobs[0]?.transient_failures, undefined);
      assert.equal((await bench.task(key)).state, 'completed');
    },
  ],
  [
    'a task in progress without provider state fails',
    async (bench) => {
      const key = await begin(bench, recordings);
      await bench.store.database.write((transaction) =>
        transaction.run({ text: 'UPDATE batch_tasks SET provider_state = NULL' }),
      );
      await bench.poll();
      assert.equal((await bench.task(key)).state, 'failed');
      assert.match((await bench.task(key)).error ?? '', /no provider state/);
    },
  ],
  [
    'a damaged provider state fails its task alone',
    async (bench) => {
      const key = await begin(bench, recordings);
      const other = await begin(bench, completions);
      await bench.store.database.write((transaction) =>
        transaction.run(
          { text: `UPDATE batch_tasks SET provider_state = '{"jobs": 7}' WHERE key = :key` },
          { key },
        ),
      );
      await bench.poll(3);
      assert.equal((await bench.task(key)).state, 'failed');
      assert.equal((await bench.task(other)).state, 'completed');
    },
  ],
  [
    'a task of more than 26 hours fails, and its job is canceled',
    async (bench) => {
      bench.openai.pollsToGo = 10_000;
      const key = await begin(bench, completions);
      bench.store.world.skip(limits.batch.taskAgeMsMax - 200_000);
      await bench.poll();
      assert.equal((await bench.task(key)).state, 'in_progress');
      await bench.poll();
      assert.equal((await bench.task(key)).state, 'failed');
      assert.match((await bench.task(key)).error ?? '', /more than 26 h/);
      await bench.poll();
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, true);
    },
  ],
  [
    'two concurrent reconcilers finalize a task once',
    async (bench) => {
      const key = await begin(bench, recordings);
      await bench.poll(2);
      bench.store.world.skip(limits.batch.pollIntervalMs * 2);
      await Promise.all([
        reconcile(bench.options, bench.signal),
        reconcile(bench.options, bench.signal),
      ]);
      await bench.poll();
      assert.equal((await bench.task(key)).state, 'completed');
      const ends = (await bench.story()).filter((line) => line === 'batch_task_completed');
      assert.equal(ends.length, 1);
    },
  ],
  [
    'cancel ends the task immediately, and reaches the provider',
    async (bench) => {
      const key = await begin(bench, completions);
      bench.openai.server.trouble({ on: /cancel$/, reply: { status: 503 } });
      await bench.commands.cancel('ann', key);
      assert.equal((await bench.task(key)).state, 'canceled');
      await bench.poll(3);
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, true);
      assert.equal((await bench.task(key)).state, 'canceled');
      assert.equal((await bench.task(key)).is_cancel_due, 0);
      await assert.rejects(bench.commands.cancel('ann', key), { code: 'action_not_allowed' });
      await assert.rejects(bench.commands.cancel('bob', key), { code: 'batch_task_unknown' });
    },
  ],
  [
    'a task that is canceled before its turn never reaches the provider',
    async (bench) => {
      const key = await bench.submit(recordings);
      await bench.commands.cancel('ann', key);
      await bench.deliver();
      await bench.poll();
      assert.equal(bench.azure.server.calls.length, 0);
      assert.equal((await bench.task(key)).state, 'canceled');
    },
  ],
  [
    'an expired batch keeps what was done in time',
    async (bench) => {
      bench.openai.lastStatus = 'expired';
      bench.openai.answer = ({ custom_id }) =>
        custom_id === 'one' ? { content: 'yes' } : 'expired';
      const key = await begin(bench, completions);
      await bench.poll(3);
      const row = await bench.task(key);
      assert.deepEqual([row.state, row.results_ok, row.results_failed], ['partial_complete', 1, 2]);
    },
  ],
];
