import assert from 'node:assert/strict';
import { runItem } from '../../../src/engine/item/executor.ts';
import { StoreLedger } from '../../../src/engine/item/store-ledger.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';

const branches = ['chunked', 'embedded', 'entity_extracted'] as const;

/** A step that fails this often, and then works. */
export function failing(times: number, failure: () => unknown): StepFunction {
  let calls = 0;
  return async () => {
    calls++;
    if (calls <= times) throw failure();
    return {};
  };
}

async function lastEvents(bench: EngineFixture, kind: string) {
  return (await bench.store.events()).filter((event) => event.kind === kind);
}

export const stepTests: readonly EngineTest[] = [
  [
    'the eight steps run in order, each begun and completed once, with the branches in between',
    async (bench) => {
      await bench.start();
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(
        bench.runs,
        bench.store.lifecycle.steps.map(({ step }) => step),
      );
      const story = await bench.store.story();
      for (const step of bench.runs) {
        const begun = story.indexOf(`step_started ${step}`);
        const completed = story.indexOf(`step_completed ${step}`);
        assert.ok(begun !== -1 && begun < completed, step);
        assert.equal(story.lastIndexOf(`step_completed ${step}`), completed, step);
      }
      assert.ok(
        branches.every(
          (step) =>
            story.indexOf(`step_completed ${step}`) < story.indexOf('step_started persisted'),
        ),
      );
      assert.deepEqual(bench.errors, []);
      assert.equal(await bench.store.withoutCause(), 0);
    },
  ],
  [
    'the three branches run concurrently, and meet at persisted',
    async (bench) => {
      let inFlight = 0;
      const together = makeLatch();
      const branch: StepFunction = async () => {
        inFlight++;
        if (inFlight === branches.length) together.open();
        await together.opened;
        return {};
      };
      await bench.start({ chunked: branch, embedded: branch, entity_extracted: branch });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.equal(inFlight, 3);
      assert.equal(bench.runs.filter((step) => step === 'persisted').length, 1);
    },
  ],
  [
    'many items run concurrently, but no more than there are slots',
    async (bench) => {
      let inFlight = 0;
      let most = 0;
      const full = makeLatch();
      const fetched: StepFunction = async () => {
        inFlight++;
        most = Math.max(most, inFlight);
        if (inFlight === 4) full.open();
        await full.opened;
        inFlight--;
        return {};
      };
      await bench.start({ fetched }, { places: 4 });
      const job = await bench.store.submit({ items: 20 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(most, 4);
    },
  ],
  [
    'a completed branch does not run again when its sibling fails and is retried',
    async (bench) => {
      const embedded = failing(2, () => new Failure('gpu_oom', 'no memory'));
      await bench.start({ embedded });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      const count = (step: string) => bench.runs.filter((run) => run === step).length;
      assert.deepEqual([...branches.map(count), count('fetched')], [1, 3, 1, 1]);
    },
  ],
  [
    'a slow branch is awaited when its sibling has failed',
    async (bench) => {
      const slow = makeLatch();
      const chunked: StepFunction = async () => {
        await slow.opened;
        return {};
      };
      const embedded = failing(1, () => new Failure('gpu_oom', 'no memory'));
      await bench.start({ chunked, embedded });
      const job = await bench.store.submit();
      await bench.untilStory('step_completed entity_extracted');
      assert.equal((await bench.store.item(job.ids[0])).waits_on, 'worker');
      slow.open();
      await bench.untilJob(job, 'succeeded');
      assert.equal(bench.runs.filter((run) => run === 'chunked').length, 1);
    },
  ],
  [
    'at or past its target, a step does not run: an item continues from what is stored',
    async (bench) => {
      const { store } = bench;
      await store.submit();
      const row = await store.claimOne();
      await store.commit(row, 'fetched', 'content_extracted', 'chunked', 'embedded');
      await store.report({ ...row, progress: (await store.item(row.id)).progress }, { to: 'turn' });
      await bench.start();
      await bench.untilStory('job_succeeded');
      assert.deepEqual(bench.runs, ['entity_extracted', 'persisted', 'indexed', 'done']);
    },
  ],
  [
    'an item whose steps are all reached ends without a call',
    async (bench) => {
      const { store, world } = bench;
      const { database, lifecycle } = store;
      await store.submit();
      const row = { ...(await store.claimOne()), progress: lifecycle.complete };
      const ledger = new StoreLedger({ database, lifecycle, world, ring: () => undefined });
      const pipeline = { lifecycle, steps: {}, timeoutMs: () => 1 };
      const { signal } = new AbortController();
      const options = { ledger, pipeline, world, reader: database, now: () => world.now() };
      assert.equal(await runItem(row, 'worker', signal, options), 'ended');
    },
  ],
  [
    'the usage of a step is counted for the item, the job and the history',
    async (bench) => {
      const embedded: StepFunction = async () => ({
        model: 'm1',
        tokensIn: 7,
        tokensOut: 3,
        costCents: 0.5,
      });
      await bench.start({ embedded, chunked: async () => ({ counts: { chunks: 4 } }) });
      const job = await bench.store.submit({ items: 2 });
      await bench.untilJob(job, 'succeeded');
      const row = await bench.store.job(job.key);
      assert.deepEqual(
        [row.tokens_in, row.tokens_out, row.cost_cents, row.chunks_indexed],
        [14, 6, 1, 8],
      );
      const completed = (await lastEvents(bench, 'step_completed')).find(
        ({ step }) => step === 'embedded',
      );
      assert.deepEqual(
        [completed?.detail?.model, completed?.detail?.tokens_in, completed?.detail?.cost_cents],
        ['m1', 7, 0.5],
      );
    },
  ],
  [
    'a completed step names the try that succeeded',
    async (bench) => {
      await bench.start({ fetched: failing(2, () => new Failure('http_5xx', 'down')) });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      const attempts = async (kind: string) =>
        (await lastEvents(bench, kind))
          .filter(({ step }) => step === 'fetched')
          .map(({ attempt }) => attempt);
      assert.deepEqual(await attempts('step_started'), [1, 2, 3]);
      assert.deepEqual(await attempts('step_failed'), [1, 2]);
      assert.deepEqual(await attempts('step_completed'), [3]);
    },
  ],
];
