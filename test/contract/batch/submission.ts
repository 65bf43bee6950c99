import assert from 'node:assert/strict';
import { BatchCommands } from '../../../src/engine/batch/commands.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { takeDueTasks } from '../../../src/store/batch/taking.ts';
import { submitDue } from '../../support/batch/rounds.ts';
import type { BatchBench, BatchTest } from '../batch-suite.ts';

export const recordings = {
  task_type: 'transcription',
  provider: 'AZURE',
  dataset_ids: ['5f0c7a52-0000-4000-8000-000000000001'],
  urls: ['https://media.example/one.wav', 'https://media.example/two.wav'],
};

export const completions = {
  task_type: 'completion',
  models: ['gpt-4o-mini'],
  dataset_ids: ['5f0c7a52-0000-4000-8000-000000000002'],
  requests: [
    { custom_id: 'one', instruction: 'Answer.', input: 'What is a pawl?' },
    { custom_id: 'two', input: 'What is a ratchet?' },
    { custom_id: 'three', input: 'What is a latch?' },
  ],
};

const version = 'api-version=2024-11-15';
const creations = /^POST .*(?:transcriptions:submit|batches)$/;

/** A process that dies before its commit stores nothing. */
async function submitAndDie(bench: BatchBench): Promise<void> {
  const { database } = bench.options;
  const dying = {
    ...bench.options,
    world: {
      ...worldOf(bench),
      failpoint: (name: string) => {
        if (name === 'batch.before-commit') throw new Error('the process dies here');
      },
    },
    database,
  };
  await submitDue(dying, bench.signal);
}

function worldOf({ options: { world } }: BatchBench) {
  return {
    now: () => world.now(),
    setTimer: (run: () => void, ms: number) => world.setTimer(run, ms),
    afterTurn: (run: () => void) => world.afterTurn(run),
    random: () => world.random(),
    uuid: () => world.uuid(),
  };
}

export const submissionTests: readonly BatchTest[] = [
  [
    'a task is on disk before the provider is called, and then moves to in_progress',
    async (bench) => {
      const key = await bench.submit(recordings);
      assert.equal((await bench.task(key)).state, 'pending');
      assert.equal((await bench.task(key)).provider_state, null);
      assert.equal(bench.azure.server.calls.length, 0);
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'in_progress');
      assert.deepEqual(await bench.story(), ['batch_task_created', 'batch_task_submitted']);
    },
  ],
  [
    'the state of a transcription starts in the documented shape',
    async (bench) => {
      const key = await bench.submit({
        ...recordings,
        urls: [...recordings.urls, 'not an address', 's3://bucket/three.wav'],
      });
      await bench.deliver();
      assert.deepEqual(await bench.state(key), {
        task_type: 'transcription',
        provider: 'AZURE',
        dataset_ids: recordings.dataset_ids,
        invalid_urls: ['not an address', 's3://bucket/three.wav'],
        jobs: [
          {
            external_job_id: `${bench.azure.server.url}/speechtotext/transcriptions/t-1?${version}`,
            status: 'SUBMITTED',
          },
        ],
      });
    },
  ],
  [
    'the state of a completion starts in the documented shape',
    async (bench) => {
      const key = await bench.submit(completions);
      await bench.deliver();
      assert.deepEqual(await bench.state(key), {
        task_type: 'completion',
        input_dataset_ids: completions.dataset_ids,
        jobs: [
          {
            model: 'gpt-4o-mini',
            status: 'SUBMITTED',
            external_job_id: 'batch_1',
            transient_failures: 0,
          },
        ],
      });
      const [batch] = bench.openai.batches.values();
      assert.ok(batch);
      assert.deepEqual(
        bench.openai.lines(batch).map(({ custom_id }) => custom_id),
        ['one', 'two', 'three'],
      );
    },
  ],
  [
    'a task without a usable address fails, and says so',
    async (bench) => {
      const key = await bench.submit({ ...recordings, urls: ['nonsense', 'gs://bucket/a.wav'] });
      await bench.deliver();
      const row = await bench.task(key);
      assert.equal(row.state, 'failed');
      assert.match(row.error ?? '', /none of its addresses can be used/);
    },
  ],
  [
    'a caller at the limit of open tasks waits for one to end, others do not',
    async ({ options }) => {
      const commands = new BatchCommands({ ...options, ring: () => undefined, openTasksMax: 1 });
      const first = await commands.submit('one', recordings);
      const again = { key: 'k', hash: 'h' };
      await assert.rejects(commands.submit('one', recordings), { code: 'queue_full' });
      await commands.submit('another', recordings, again);
      const replayed = await commands.submit('another', recordings, again);
      assert.equal(replayed.isReplayed, true);
      await commands.cancel('one', first.key);
      await commands.submit('one', recordings);
    },
  ],
  [
    'a task that is delivered twice at once is submitted once',
    async (bench) => {
      await bench.submit(recordings);
      await Promise.all([bench.deliver(), bench.deliver()]);
      await bench.deliver();
      assert.equal(bench.azure.server.count(creations), 1);
    },
  ],
  [
    'a task that another submitter has moved on is skipped',
    async (bench) => {
      const key = await bench.submit(recordings);
      const { database, world } = bench.options;
      const slow = await database.write((transaction) =>
        takeDueTasks(transaction, 'submit', {
          ...{ servedBy: 'AZURE', limit: 1, now: world.now(), heldUntil: 0 },
        }),
      );
      assert.equal(slow.length, 1);
      await bench.deliver();
      const before = await bench.task(key);
      await bench.deliver();
      assert.deepEqual(await bench.task(key), before);
    },
  ],
  ...(['transcription', 'completion'] as const).map(
    (kind): BatchTest => [
      `a ${kind} whose submitter died before its commit is found, and not submitted again`,
      async (bench) => {
        const key = await bench.submit(kind === 'completion' ? completions : recordings);
        await submitAndDie(bench);
        // Later batches of the same caller fill the first pages of the provider's list.
        for (let other = 0; other < 5; other += 1) {
          await bench.submit(kind === 'completion' ? completions : recordings);
        }
        await submitAndDie(bench);
        const server = kind === 'completion' ? bench.openai.server : bench.azure.server;
        const begun = server.count(creations);
        assert.equal(begun, 6);
        assert.equal((await bench.task(key)).state, 'pending');
        bench.store.world.skip(limits.batch.holdMs);
        await bench.deliver();
        assert.equal(server.count(creations), begun);
        assert.equal((await bench.task(key)).state, 'in_progress');
        const ids = (await bench.state(key)).jobs.map((job) => job.external_job_id);
        assert.match(ids[0] ?? '', /(?:t-|batch_)1(?:\?|$)/);
      },
    ],
  ),
  [
    'a rate limit of a provider is waited for as long as it says',
    async (bench) => {
      const key = await bench.submit(recordings);
      const headers = { 'retry-after': '120' };
      bench.azure.server.trouble({ on: creations, reply: { status: 429, headers } });
      await bench.deliver();
      bench.store.world.skip(119_000);
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'pending');
      assert.equal(bench.azure.server.count(creations), 1);
      bench.store.world.skip(1_000);
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'in_progress');
    },
  ],
  [
    'an unreachable provider is tried again, and in the end the task fails',
    async (bench) => {
      const key = await bench.submit(completions);
      const times = limits.batch.submitAttemptsMax;
      bench.openai.server.trouble({ on: /files/, reply: { status: 503 }, times });
      for (let attempt = 0; attempt < times; attempt += 1) {
        assert.equal((await bench.task(key)).state, 'pending');
        await bench.deliver();
        bench.store.world.skip(600_000);
      }
      const row = await bench.task(key);
      assert.equal(row.state, 'failed');
      assert.match(row.error ?? '', /the submission failed: .*503/);
    },
  ],
  [
    'a provider that refuses the request ends the task immediately',
    async (bench) => {
      const key = await bench.submit(recordings);
      const body = { error: { message: 'the locale is unknown' } };
      bench.azure.server.trouble({ on: creations, reply: { status: 400, body } });
      await bench.deliver();
      assert.equal((await bench.task(key)).state, 'failed');
      assert.match((await bench.task(key)).error ?? '', /the locale is unknown/);
    },
  ],
  [
    'an invalid task is refused with the reason',
    async (bench) => {
      const bodies: readonly [unknown, RegExp][] = [
        ['x', /must be an object/],
        [{ urls: ['https://a.example'] }, /task_type must be/],
        [{ task_type: 'transcription', urls: [] }, /urls must have/],
        [{ task_type: 'transcription' }, /give either urls to transcribe or requests/],
        [{ ...recordings, provider: 'ACME' }, /no provider is configured for ACME/],
        [{ ...completions, models: ['llama'] }, /no provider is configured for the model llama/],
        [{ ...completions, models: [] }, /at least one model/],
        [{ ...completions, requests: [{ custom_id: 'a b', input: 'x' }] }, /custom_id must be/],
        [{ ...completions, requests: [{ custom_id: 'a' }] }, /input must be a text/],
        [
          { ...completions, requests: [completions.requests[0], completions.requests[0]] },
          /is used twice/,
        ],
      ];
      for (const [body, message] of bodies) await assert.rejects(bench.submit(body), { message });
      assert.equal((await bench.story()).length, 0);
    },
  ],
];
