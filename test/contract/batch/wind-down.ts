/** Abandoned tasks are ended at the provider, and nothing is paid twice meanwhile. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { Reply } from '../../support/batch/provider-server.ts';
import { reconcile } from '../../support/batch/rounds.ts';
import { makeLatch } from '../../support/test-world.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';
import { defer, gather, statuses } from './lane.ts';
import { completions, recordings } from './submission.ts';

async function begin(bench: BatchBench, body: unknown): Promise<string> {
  const key = await bench.submit(body);
  await bench.deliver();
  return key;
}

const broken: Reply = { status: 500 };
const asking = /^GET .*batches\/batch_1$/;

/** The provider fails three polls of the first batch, and then works again. */
async function giveUp(bench: BatchBench): Promise<void> {
  bench.openai.server.trouble({ on: asking, reply: broken, times: 3 });
  await bench.poll(3);
}

function paidTwice(bench: BatchBench): string[] {
  return [...bench.openai.charges()].flatMap(([content, times]) => (times > 1 ? [content] : []));
}

export const windDownTests: readonly BatchTest[] = [
  [
    'an abandoned batch is canceled, and only then are its requests sent again',
    async (bench) => {
      bench.openai.pollsToGo = 10_000;
      bench.openai.cancelPollsToGo = 3;
      const { id } = await defer(bench, 2);
      await gather(bench);
      await giveUp(bench);
      assert.equal((await bench.store.rows('SELECT 1 FROM batch_tasks')).length, 1);
      assert.equal(await gather(bench), 0, 'the first batch may still run');
      assert.deepEqual(await statuses(bench, id), ['open', 'open']);
      assert.equal(await bench.store.withoutCause(), 0);
      await bench.poll(1);
      assert.equal(bench.openai.batches.get('batch_1')?.isCanceled, true);
      assert.equal(await gather(bench), 0, 'it is not canceled yet');
      await bench.poll(6);
      bench.openai.pollsToGo = 1;
      // In halves.
      await gather(bench);
      await gather(bench);
      await bench.poll(3);
      assert.deepEqual(await statuses(bench, id), ['ok', 'ok']);
      assert.deepEqual(paidTwice(bench), []);
    },
  ],
  [
    'results that a batch had before it was canceled are kept, and not requested again',
    async (bench) => {
      bench.openai.pollsToGo = 10_000;
      bench.openai.isDoneAtCancel = ({ custom_id }) => custom_id === 'line-1';
      const { id } = await defer(bench, 2);
      await gather(bench);
      await giveUp(bench);
      await bench.poll(2);
      assert.deepEqual(await statuses(bench, id), ['ok', 'open']);
      bench.openai.pollsToGo = 1;
      await gather(bench);
      await bench.poll(3);
      assert.deepEqual(await statuses(bench, id), ['ok', 'ok']);
      assert.deepEqual(paidTwice(bench), []);
    },
  ],
  [
    'a batch that ended during an outage is collected, and not paid again',
    async (bench) => {
      const { id } = await defer(bench, 2);
      await gather(bench);
      bench.openai.pollsToGo = 0;
      bench.openai.server.trouble({ on: asking, reply: broken, times: 5 });
      await bench.poll(3);
      const [task] = await bench.store.rows<{ state: string; is_cancel_due: number }>(
        'SELECT state, is_cancel_due FROM batch_tasks',
      );
      assert.deepEqual([task?.state, task?.is_cancel_due], ['failed', 1]);
      await bench.poll(5);
      assert.deepEqual(await statuses(bench, id), ['ok', 'ok']);
      assert.equal(bench.openai.batches.size, 1);
    },
  ],
  [
    'the results of an abandoned task are its output, and are counted',
    async (bench) => {
      const key = await begin(bench, completions);
      bench.openai.pollsToGo = 0;
      await giveUp(bench);
      await bench.poll(2);
      const row = await bench.task(key);
      assert.deepEqual([row.state, row.results_ok, row.is_cancel_due], ['failed', 3, 0]);
      assert.equal(row.tokens_in, 300);
      const [job] = (await bench.state(key)).jobs;
      assert.deepEqual([job?.status, job?.transient_failures], ['FAILED', 3]);
      const output = (await bench.output(key)) as Record<string, { completions: unknown[] }>;
      assert.equal(output['gpt-4o-mini']?.completions.length, 3);
    },
  ],
  [
    'three errors with good responses between them do not fail a job',
    async (bench) => {
      bench.openai.pollsToGo = 4;
      const key = await begin(bench, completions);
      for (let error = 0; error < 3; error += 1) {
        bench.openai.server.trouble({ on: asking, reply: broken });
        await bench.poll(2);
      }
      await bench.poll(3);
      const row = await bench.task(key);
      assert.deepEqual([row.state, row.poll_errors], ['completed', 3]);
    },
  ],
  [
    'a refused key is not an error of the job: the task waits, and shows that',
    async (bench) => {
      const key = await begin(bench, completions);
      bench.openai.server.trouble({ on: asking, reply: { status: 401 }, times: 4 });
      await bench.poll(4);
      const row = await bench.task(key);
      assert.equal(row.state, 'in_progress');
      assert.match(row.wait_reason ?? '', /401/);
      for (let hour = 0; hour < 4; hour += 1) {
        bench.store.world.skip(3_600_000);
        await bench.poll();
      }
      assert.equal((await bench.task(key)).state, 'completed');
      assert.equal((await bench.task(key)).wait_reason, null);
    },
  ],
  [
    'a rate limit on the results is waited for, as long as it says, or longer each time',
    async (bench) => {
      const key = await begin(bench, completions);
      const limited = { status: 429, headers: { 'retry-after': '900' } };
      const on = /content$/;
      bench.openai.server.trouble({ on, reply: limited });
      bench.openai.server.trouble({ on, reply: { status: 429 }, times: 4 });
      await bench.poll(3);
      assert.equal(bench.openai.server.count(on), 1);
      assert.match((await bench.task(key)).wait_reason ?? '', /429/);
      await bench.poll(5);
      assert.equal(bench.openai.server.count(on), 1, 'it is not polled before that time');
      const gaps: number[] = [];
      for (let asked = 1; asked < 6; ) {
        const before = (await bench.task(key)).next_at;
        bench.store.world.skip(Math.max(0, before - bench.store.world.now()));
        await reconcile(bench.options, bench.signal);
        const after = bench.openai.server.count(on);
        if (after > asked) gaps.push((await bench.task(key)).next_at - bench.store.world.now());
        asked = after;
      }
      const row = await bench.task(key);
      assert.deepEqual([row.state, row.poll_errors], ['completed', 0]);
      const waits = gaps.slice(0, 4);
      assert.deepEqual(
        waits,
        waits.toSorted((one, other) => one - other),
      );
      assert.ok((waits[3] ?? 0) >= 2 * (waits[0] ?? 0), `waits of ${waits.join(', ')} ms`);
    },
  ],
  [
    'a limit without a time at submission is waited for, longer each time, and shown',
    async (bench) => {
      const key = await bench.submit(completions);
      const on = /^POST .*files$/;
      bench.openai.server.trouble({ on, reply: { status: 429 }, times: 6 });
      const gaps: number[] = [];
      for (let attempt = 0; attempt < 6; attempt += 1) {
        await bench.deliver();
        const row = await bench.task(key);
        gaps.push(row.next_at - bench.store.world.now());
        assert.match(row.wait_reason ?? '', /429/);
        bench.store.world.skip(gaps.at(-1) ?? 0);
      }
      for (const [index, gap] of gaps.entries()) {
        assert.ok(gap >= 30_000 * 2 ** index * 0.9, `wait ${index} is ${gap} ms`);
      }
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'in_progress');
      assert.equal((await bench.task(key)).wait_reason, null);
      assert.ok((await bench.story()).includes('batch_task_waiting'));
    },
  ],
  [
    'a lock is renewed while a slow result is read',
    async (bench) => {
      const key = await begin(bench, completions);
      const { world } = bench.store;
      await bench.poll(2);
      const reading = makeLatch();
      const release = makeLatch();
      const reply: Reply = (response) => {
        reading.open();
        void release.opened.then(() => response.end(bench.openai.files.get('out-batch_1')));
      };
      bench.openai.server.trouble({ on: /content$/, reply });
      world.skip(limits.batch.pollIntervalMs * 2);
      const slow = reconcile(bench.options, bench.signal);
      await reading.opened;
      for (let step = 0; step < 20; step += 1) {
        await world.advance(limits.batch.holdMs / 4);
        await reconcile(bench.options, bench.signal);
      }
      assert.equal(bench.openai.server.count(/content$/), 1, 'no other process reads it');
      release.open();
      await slow;
      assert.equal((await bench.task(key)).state, 'completed');
    },
  ],
  [
    'a task has the counts of all its jobs, regardless of when each of them ended',
    async (bench) => {
      const models = ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1'];
      const key = await begin(bench, { ...completions, models });
      const failed = { id: 'batch_3', status: 'failed', errors: { data: [{ message: 'no' }] } };
      bench.openai.server.trouble({ on: /^GET .*batch_3$/, reply: { body: failed } });
      bench.openai.server.trouble({
        on: /^GET .*batch_2$/,
        reply: { body: { id: 'batch_2', status: 'in_progress' } },
        times: 4,
      });
      await bench.poll(8);
      const row = await bench.task(key);
      assert.deepEqual(
        [row.state, row.results_ok, row.results_failed, row.tokens_in, row.tokens_out],
        ['partial_complete', 6, 3, 600, 120],
      );
    },
  ],
  [
    'a job started by a submitter that lost a canceled task is ended, too',
    async (bench) => {
      const key = await bench.submit(recordings);
      const begun = makeLatch();
      const release = makeLatch();
      bench.azure.server.trouble({
        on: /^POST .*transcriptions/,
        isAfter: true,
        reply: (response) => {
          begun.open();
          void release.opened.then(() => {
            const self = `${bench.azure.server.url}/speechtotext/transcriptions/t-1`;
            response.writeHead(201, { 'content-type': 'application/json' });
            response.end(JSON.stringify({ self }));
          });
        },
      });
      const submitting = bench.deliver();
      await begun.opened;
      await bench.commands.cancel('ann', key);
      release.open();
      await submitting;
      await bench.poll(4);
      assert.equal(bench.azure.jobs.size, 0);
      assert.equal((await bench.task(key)).is_cancel_due, 0);
    },
  ],
];
