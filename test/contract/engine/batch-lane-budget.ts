/** Budgets in the batch lane: money is reserved for a batch before it is sent. */
import assert from 'node:assert/strict';
import { pruneMoney } from '../../../src/engine/item/sweeper.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { CheapLane, costs, sections, sectionTokens, ten } from '../../support/batch/batch-lane.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';

export const cheapBudgetTests: readonly EngineTest[] = [
  [
    'a job of the batch lane is paused before its batches would exceed its budget',
    async (bench) => {
      const lane = new CheapLane(bench);
      const engine = await lane.start();
      const job = await lane.submit(ten, { budgetCents: 50 });
      await bench.untilJob(job, 'paused');
      await bench.world.settle();
      const paused = await bench.store.job(job.key);
      assert.deepEqual([paused.pause_reason, paused.items_failed], ['budget_reached', 0]);
      await lane.deliver();
      await bench.world.settle();
      // Items that did not wait yet when the job was paused have sent nothing: possibly none did.
      const { length } = lane.batches.answered;
      assert.ok(length * sectionTokens <= 50, `${length} were sent`);
      assert.equal(await bench.store.withoutCause(), 0);
      await engine.commands.resume('ann', job.key, 1000);
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 10);
      assert.equal((await costs(bench, job)).cost_cents, 10 * sectionTokens);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'money stays reserved for as long as a batch may take',
    async (bench) => {
      const lane = new CheapLane(bench);
      await lane.start();
      const { database } = bench.store;
      await lane.submit({ page: sections('Ada') }, { budgetCents: 20 });
      await lane.answerLater();
      bench.world.skip(2 * limits.batch.taskAgeMsMax);
      await pruneMoney(database);
      const [held] = await bench.store.rows<{ cents: number }>('SELECT cents FROM reservations');
      assert.ok(Number(held?.cents) >= sectionTokens, `${held?.cents} cents`);
    },
  ],
  [
    'a model without a known price spends nothing of a budget',
    async (bench) => {
      const lane = new CheapLane(bench, { isPriced: false });
      await lane.start();
      const job = await lane.submit({ page: sections('Ada') }, { budgetCents: 20 });
      await bench.untilJob(job, 'paused');
      const told = (await bench.store.events()).findLast(({ kind }) => kind === 'job_paused');
      assert.match(String(told?.detail?.message), /not known: set PAWL_EMBEDDER_PRICE/);
      assert.equal(await lane.lines(), 0);
    },
  ],
  [
    'money reserved for requests that were never sent, or that failed, is released',
    async (bench) => {
      const lane = new CheapLane(bench);
      const engine = await lane.start();
      const key = { caller: 'ann', corpus: 'notes' };
      await engine.commands.setCorpusBudget({ ...key, budgetCents: 20 });
      const canceled = await lane.submit({ page: sections('Ada') });
      await lane.untilWaiting();
      await engine.commands.cancel('ann', canceled.key);
      await lane.deliver();
      assert.equal(lane.batches.jobs, 0);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
      lane.batches.refusal = () => 'blocked';
      const refused = await lane.submit({ page: sections('Ada') });
      await lane.answer();
      await bench.untilJob(refused, 'failed');
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
];
