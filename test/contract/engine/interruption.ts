import assert from 'node:assert/strict';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest, Steps } from '../../support/engine-fixture.ts';
import { ledgerOver } from '../../support/ledger-over.ts';
import { makeLatch } from '../../support/test-world.ts';
import { failing } from './step.ts';

/** Steps of which `embedded` hangs on its first run, until it is aborted or released. */
function hanging(bench: EngineFixture): { steps: Steps; reasons: unknown[]; release: () => void } {
  const reasons: unknown[] = [];
  const latch = makeLatch();
  const embedded: StepFunction = async ({ signal }) => {
    if (bench.runs.filter((step) => step === 'embedded').length > 1) return {};
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    await latch.opened;
    return { costCents: 5 };
  };
  return { steps: { embedded }, reasons, release: latch.open };
}

const inline = (source: string) => ({ kind: 'inline' as const, source });

async function untilHanging(bench: EngineFixture): Promise<void> {
  await bench.untilStory('step_completed chunked');
  await bench.untilStory('step_completed entity_extracted');
}

export const interruptionTests: readonly EngineTest[] = [
  [
    'pause aborts the running step through its signal, and resume continues from the same step',
    async (bench) => {
      const { steps, reasons } = hanging(bench);
      const engine = await bench.start(steps);
      const job = await bench.store.submit();
      await untilHanging(bench);
      await engine.commands.pause('ann', job.key);
      await bench.world.settle();
      assert.deepEqual(reasons, ['lost']);
      await bench.world.advance(5000);
      const item = await bench.store.item(job.ids[0]);
      assert.deepEqual([item.waits_on, item.step, item.attempt], ['person', 'chunked', 0]);
      assert.equal(await bench.store.withoutCause(), 0);
      await engine.commands.resume('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      const counts = ['fetched', 'chunked', 'embedded', 'entity_extracted'].map(
        (step) => bench.runs.filter((run) => run === step).length,
      );
      assert.deepEqual(counts, [1, 1, 2, 1]);
    },
  ],
  [
    'pause in another process aborts the step here, within about a second',
    async (bench) => {
      const { steps, reasons } = hanging(bench);
      await bench.start(steps);
      const job = await bench.store.submit();
      await untilHanging(bench);
      await bench.store.commands.pause('ann', job.key);
      await bench.world.advance(2000);
      assert.deepEqual(reasons, ['lost']);
    },
  ],
  [
    'cancel aborts the running step, and its late result changes nothing',
    async (bench) => {
      const { steps, reasons, release } = hanging(bench);
      const engine = await bench.start(steps);
      const job = await bench.store.submit({ items: 1 });
      await untilHanging(bench);
      const receipt = await engine.commands.cancel('ann', job.key);
      assert.deepEqual([receipt.itemsCanceled, receipt.itemsDone], [1, 0]);
      await bench.world.settle();
      assert.deepEqual(reasons, ['lost']);
      const before = (await bench.store.state()).items;
      release();
      await bench.world.advance(5000);
      assert.deepEqual((await bench.store.state()).items, before);
      assert.equal((await bench.store.job(job.key)).state, 'canceled');
      assert.equal((await bench.store.story()).includes('step_completed embedded'), false);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'an item that is claimed again here ends its earlier run, and keeps its new lease',
    async (bench) => {
      const calls: { readonly signal: AbortSignal; readonly end: () => void }[] = [];
      const content_extracted: StepFunction = async ({ signal, item }) => {
        if (item.source !== 'note') return {};
        const latch = makeLatch();
        calls.push({ signal, end: latch.open });
        await latch.opened;
        return {};
      };
      const engine = await bench.start({ content_extracted }, { mayRunAhead: () => true });
      const submit = (source: string) =>
        engine.commands.submit({ caller: 'ann', corpus: 'notes', sources: [inline(source)] });
      const { jobKey: key, itemIds } = await submit('note');
      await bench.world.until('the step to run', async () => calls.length === 1);
      // In another process, which cannot reach this one; then something wakes the dispatcher here.
      await bench.store.commands.pause('ann', key);
      await bench.store.commands.resume('ann', key);
      await submit('other');
      await bench.world.until('the step to run again', async () => calls.length === 2);
      const [first, second] = calls;
      assert.equal(first?.signal.reason, 'lost');
      first?.end();
      const { epoch } = await bench.store.item(itemIds[0]);
      await bench.world.advance(5000);
      assert.equal((await bench.store.item(itemIds[0])).epoch, epoch, 'the lease is kept');
      assert.deepEqual([calls.length, second?.signal.aborted], [2, false]);
      second?.end();
      await bench.untilJob({ key, ids: itemIds, caller: 'ann' }, 'succeeded');
      const counts = ['chunked', 'persisted'].map(
        (step) => bench.runs.filter((run) => run === step).length,
      );
      assert.deepEqual([counts, bench.errors], [[2, 2], []], 'once for each document');
    },
  ],
  [
    'a failed job that is retried continues from its failed step, with all its retries',
    async (bench) => {
      const embedded = failing(1, () => new Failure('step_output_invalid', 'no'));
      const engine = await bench.start({ embedded });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'failed');
      bench.runs.length = 0;
      assert.equal(await engine.commands.retry('ann', job.key), 1);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(bench.runs, ['embedded', 'persisted', 'indexed', 'done']);
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.error, row.failed_stage, row.items_failed], [null, null, 0]);
    },
  ],
  [
    'a canceled job that is retried continues from where it was stopped',
    async (bench) => {
      const { steps } = hanging(bench);
      const engine = await bench.start(steps);
      const job = await bench.store.submit();
      await untilHanging(bench);
      await engine.commands.cancel('ann', job.key);
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.equal(bench.runs.filter((step) => step === 'fetched').length, 1);
      assert.equal((await bench.store.job(job.key)).items_canceled, 0);
    },
  ],
  [
    'a stop leaves no timer behind, even if a step ignores its signal',
    async (bench) => {
      const { steps } = hanging(bench);
      const engine = await bench.start(steps);
      await bench.store.submit();
      await untilHanging(bench);
      await bench.stop(engine);
      assert.equal(bench.world.pendingTimers, 0);
    },
  ],
  [
    'a stop during a claim leaves no stuck item',
    async (bench) => {
      const claiming = makeLatch();
      const answered = makeLatch();
      const engine = await bench.start(
        {},
        {
          ledger: (own) =>
            ledgerOver(own, {
              claim: async (worker, take) => {
                claiming.open();
                await answered.opened;
                return own.claim(worker, take);
              },
            }),
        },
      );
      const sources = [inline('note')];
      await engine.commands.submit({ caller: 'ann', corpus: 'notes', sources });
      await claiming.opened;
      const stopped = bench.stop(engine);
      answered.open();
      await stopped;
      assert.equal(await bench.store.withoutCause(), 0);
      assert.deepEqual(bench.runs, [], 'no step began after the stop');
      assert.equal((await bench.store.queues()).turns, 1);
    },
  ],
];
