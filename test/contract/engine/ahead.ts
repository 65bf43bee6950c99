import assert from 'node:assert/strict';
import { runItem } from '../../../src/engine/item/executor.ts';
import type { Ledger } from '../../../src/engine/item/ledger.ts';
import { StoreLedger } from '../../../src/engine/item/store-ledger.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { ledgerOver } from '../../support/ledger-over.ts';
import { makeLatch } from '../../support/test-world.ts';
import { failing } from './step.ts';

const all = { mayRunAhead: () => true };

/** A ledger whose reports reach the disk only when released. */
function held(): { ledger: (own: Ledger) => Ledger; release: () => void } {
  const { opened, open } = makeLatch();
  const ledger = (own: Ledger): Ledger =>
    ledgerOver(own, { report: (report) => opened.then(() => own.report(report)) });
  return { ledger, release: open };
}

async function stepOf(bench: EngineFixture, id: number | undefined): Promise<string> {
  return (await bench.store.item(id)).step;
}

function untilRun(bench: EngineFixture, step: string): Promise<void> {
  return bench.world.until(`${step} to run`, async () => bench.runs.includes(step));
}

const timesRun = (bench: EngineFixture, step: string): number =>
  bench.runs.filter((run) => run === step).length;

export const aheadTests: readonly EngineTest[] = [
  [
    'free steps run while the commits before them are pending, and the history is the same',
    async (bench) => {
      const { ledger, release } = held();
      await bench.start({}, { ...all, ledger });
      const job = await bench.store.submit();
      await untilRun(bench, 'done');
      assert.equal(await stepOf(bench, job.ids[0]), 'enqueued');
      release();
      await bench.untilJob(job, 'succeeded');
      const story = await bench.store.story();
      const steps = bench.store.lifecycle.steps.map(({ step }) => step);
      const told = (kind: string) =>
        steps.map((step) => story.filter((line) => line === `${kind} ${step}`).length);
      assert.deepEqual(
        [told('step_started'), told('step_completed')],
        [steps.map(() => 1), steps.map(() => 1)],
      );
      for (const step of steps) {
        const begun = story.indexOf(`step_started ${step}`);
        assert.ok(begun >= 0 && begun < story.indexOf(`step_completed ${step}`), step);
      }
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'a step that is not free begins only when everything before it is on disk',
    async (bench) => {
      const seen: string[] = [];
      const persisted: StepFunction = async ({ item }) => {
        seen.push(await stepOf(bench, item.id));
        return {};
      };
      const mayRunAhead = (step: string): boolean => step !== 'persisted';
      await bench.start({ persisted }, { mayRunAhead });
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(seen, ['entity_extracted']);
    },
  ],
  [
    'steps that ran ahead of a refused write do not count, and run again',
    async (bench) => {
      let refusals = 0;
      const written: string[] = [];
      const content_extracted: StepFunction = async () => ({
        effect: async () => {
          if (refusals++ < 2) throw new Failure('replaced_meanwhile', 'not now');
          return undefined;
        },
      });
      const persisted: StepFunction = async () => ({
        effect: async () => {
          written.push('persisted');
          return undefined;
        },
      });
      await bench.start({ content_extracted, persisted }, all);
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      const story = await bench.store.story();
      assert.equal(story.filter((line) => line === 'step_completed persisted').length, 1);
      assert.equal(story.filter((line) => line === 'step_failed content_extracted').length, 1);
      assert.equal(written.length, 1, 'the effect of a step that was never reached');
      assert.equal(timesRun(bench, 'fetched'), 1);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'a failure that ran ahead of a refused write is not the failure of the item',
    async (bench) => {
      let refusals = 0;
      const content_extracted: StepFunction = async () => ({
        effect: async () => {
          // Once in a commit with others, and once alone.
          if (refusals++ < 2) throw new Failure('replaced_meanwhile', 'not now');
          return undefined;
        },
      });
      const chunked = failing(1, () => new Failure('http_404', 'it read what was never there'));
      await bench.start({ content_extracted, chunked }, all);
      const job = await bench.store.submit();
      await bench.untilJob(job, 'succeeded');
      assert.equal((await bench.store.story()).includes('step_failed chunked'), false);
    },
  ],
  [
    'a step that fails ahead of the commits before it fails after them',
    async (bench) => {
      const { ledger, release } = held();
      const persisted = failing(1, () => new Failure('step_output_invalid', 'no'));
      await bench.start({ persisted }, { ...all, ledger });
      const job = await bench.store.submit();
      await untilRun(bench, 'persisted');
      release();
      await bench.untilJob(job, 'failed');
      const story = await bench.store.story();
      assert.ok(story.indexOf('step_completed chunked') < story.indexOf('step_failed persisted'));
      const { progress } = await bench.store.item(job.ids[0]);
      assert.deepEqual(bench.store.lifecycle.ready(progress), ['persisted']);
    },
  ],
  [
    'nothing that ran ahead is stored once the job is canceled',
    async (bench) => {
      const { ledger, release } = held();
      const effects: string[] = [];
      const indexed: StepFunction = async () => ({
        effect: async () => {
          effects.push('indexed');
          return undefined;
        },
      });
      const engine = await bench.start({ indexed }, { ...all, ledger });
      const job = await bench.store.submit();
      await untilRun(bench, 'done');
      await engine.commands.cancel('ann', job.key);
      release();
      await bench.untilJob(job, 'canceled');
      await bench.world.advance(5000);
      assert.deepEqual(effects, []);
      const { step, progress } = await bench.store.item(job.ids[0]);
      assert.deepEqual([step, progress], ['canceled', 0]);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'an item that killed a worker runs one committed step at a time, so the next death names it',
    async (bench) => {
      const { store, world } = bench;
      const { database, lifecycle } = store;
      await store.submit();
      const row = { ...(await store.claimOne()), crashes: 1 };
      const ledger = new StoreLedger({ database, lifecycle, world, ring: () => undefined });
      const stored: string[] = [];
      const look: StepFunction = async ({ item }) => {
        stored.push(await stepOf(bench, item.id));
        return {};
      };
      const steps = { content_extracted: look, persisted: look, indexed: look, done: look };
      const pipeline = bench.pipeline(steps, all);
      const { signal } = new AbortController();
      const options = { ledger, pipeline, world, reader: database, now: () => world.now() };
      assert.equal(await runItem(row, 'worker', signal, options), 'ended');
      assert.deepEqual(stored, ['fetched', 'entity_extracted', 'persisted', 'indexed']);
    },
  ],
  [
    'a report that the store refuses ends the run with its error, despite steps that ran ahead',
    async (bench) => {
      const ledger = (own: Ledger): Ledger =>
        ledgerOver(own, { report: () => Promise.reject(new Failure('store_busy', 'away')) });
      await bench.start({}, { ...all, ledger });
      await bench.store.submit();
      await bench.world.until('an error', async () => bench.errors.length > 0);
      assert.match(bench.errors[0] ?? '', /^executor: .*away/);
    },
  ],
];
