/** What the batch lane costs: a response of a batch is paid once, and kept like any other. */
import assert from 'node:assert/strict';
import { limits } from '../../../src/kernel/limits/limits.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import { getCorpusSettings } from '../../../src/store/corpus/settings.ts';
import { CheapLane, costs, five, sections, sectionTokens } from '../../support/batch/batch-lane.ts';
import { answerTokens } from '../../support/batch/metered-batches.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { meteredEmbedder } from '../../support/metered-embedder.ts';
import { pipelineOf, submitTexts } from './money.ts';

const nothingSaved = { tokens_saved: 0, saved_cents: 0 };

export const cheapLaneTests: readonly EngineTest[] = [
  [
    'if one of many requests fails, the others are charged, kept and never sent again',
    async (bench) => {
      const lane = new CheapLane(bench);
      lane.batches.refusal = ({ input }) => (input.includes('Cleo') ? 'blocked' : undefined);
      const engine = await lane.start();
      const job = await lane.submit({ page: sections(...five) });
      await lane.answer();
      await bench.untilJob(job, 'failed');
      assert.equal(lane.batches.answered.length, 4);
      const paid = { tokens_in: 4 * sectionTokens, cost_cents: 4 * sectionTokens };
      assert.deepEqual(await costs(bench, job), { ...paid, ...nothingSaved });
      assert.equal(await lane.lines(), 0);
      lane.batches.refusal = () => undefined;
      await engine.commands.retry('ann', job.key);
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 5);
      assert.equal(new Set(lane.batches.answered).size, 5);
      const { tokens_in, cost_cents, tokens_saved } = await costs(bench, job);
      const [whole, kept] = [5 * sectionTokens, 4 * sectionTokens];
      assert.deepEqual([tokens_in, cost_cents, tokens_saved], [whole, whole, kept]);
      assert.equal(lane.embedder.asked.length, 0);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'for an edited document only new requests are sent, and the saving shows',
    async (bench) => {
      const lane = new CheapLane(bench);
      await lane.start();
      const first = await lane.submit({ page: sections(...five) });
      await lane.answer();
      await bench.untilJob(first, 'succeeded');
      const second = await lane.submit({ page: sections(...five.slice(1), 'Zoe') });
      await lane.answer();
      await bench.untilJob(second, 'succeeded');
      assert.equal(lane.batches.answered.length, 6);
      assert.match(lane.batches.answered[5] ?? '', /Zoe/);
      const kept = 4 * sectionTokens;
      assert.deepEqual(await costs(bench, second), {
        ...{ tokens_in: sectionTokens, cost_cents: sectionTokens },
        ...{ tokens_saved: kept, saved_cents: kept },
      });
      const done = (await bench.store.events()).findLast(
        (event) => event.kind === 'step_completed' && event.step === 'embedded',
      );
      const {
        lane: told,
        tokens_in,
        cost_cents,
        normal_cost_cents,
        tokens_saved,
        saved_cents,
      } = done?.detail ?? {};
      assert.deepEqual(
        [told, tokens_in, cost_cents, normal_cost_cents, tokens_saved, saved_cents],
        ['cheap', sectionTokens, sectionTokens, 2 * sectionTokens, kept, kept],
      );
    },
  ],
  [
    'a response of one lane is not requested again in the other',
    async (bench) => {
      const lane = new CheapLane(bench);
      await lane.start();
      await bench.untilJob(
        await lane.submit({ page: sections('Ada') }, { lane: 'now' }),
        'succeeded',
      );
      assert.equal(lane.embedder.asked.length, 1);
      await bench.untilJob(await lane.submit({ other: sections('Ada') }), 'succeeded');
      assert.equal(lane.batches.jobs, 0);
    },
  ],
  [
    'a repeated text is requested once',
    async (bench) => {
      const lane = new CheapLane(bench);
      await lane.start();
      const job = await lane.submit({ page: sections('Ada', 'Bea', 'Ada') });
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 2);
      const [vectors] = await bench.store.rows<{ count: number }>(
        'SELECT COUNT(*) AS count FROM vectors',
      );
      assert.equal(Number(vectors?.count), 3);
      assert.equal((await costs(bench, job)).tokens_saved, sectionTokens);
    },
  ],
  [
    'a crash between the responses of a batch and the commit charges and sends them once',
    async (bench) => {
      const lane = new CheapLane(bench);
      const own = lane.pipeline.steps.embedded as StepFunction;
      const dying: StepFunction = async (context) => {
        const result = await own(context);
        return result?.deferred ? result : new Promise(() => undefined);
      };
      const steps = { ...lane.pipeline.steps, embedded: dying };
      const first = await lane.start({ pipeline: { ...lane.pipeline, steps }, pid: 1 });
      const job = await lane.submit({ page: sections(...five) });
      await lane.answer();
      await bench.untilStory('work_paid embedded');
      bench.abandon(first);
      bench.store.livingPids.delete(1);
      await lane.start({ pid: 2 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 5);
      const { tokens_in, cost_cents } = await costs(bench, job);
      assert.deepEqual([tokens_in, cost_cents], [5 * sectionTokens, 5 * sectionTokens]);
    },
  ],
  [
    'a canceled and retried job waits for its open requests, and repeats none',
    async (bench) => {
      const lane = new CheapLane(bench);
      const engine = await lane.start();
      const job = await lane.submit({ page: sections(...five) });
      await lane.answerLater();
      await engine.commands.cancel('ann', job.key);
      await bench.world.advance(10_000);
      await engine.commands.retry('ann', job.key);
      await lane.answer();
      assert.equal(await bench.store.withoutCause(), 0);
      const { state, items_failed } = await bench.store.job(job.key);
      assert.deepEqual([state, items_failed], ['running', 0]);
      lane.batches.isBusy = false;
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual([lane.batches.jobs, lane.batches.answered.length], [1, 5]);
      assert.equal((await costs(bench, job)).cost_cents, 5 * sectionTokens);
    },
  ],
  [
    'a batch response that arrives while an item starts to wait wakes the item',
    async (bench) => {
      const lane = new CheapLane(bench);
      const own = lane.pipeline.steps.embedded as StepFunction;
      const late: StepFunction = async (context) => {
        const result = await own(context);
        if (result?.deferred?.requests.length !== 0) return result;
        lane.batches.isBusy = false;
        await lane.deliver();
        return result;
      };
      const steps = { ...lane.pipeline.steps, embedded: late };
      const engine = await lane.start({ pipeline: { ...lane.pipeline, steps } });
      const job = await lane.submit({ page: sections(...five) });
      await lane.answerLater();
      await engine.commands.cancel('ann', job.key);
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual([lane.batches.jobs, lane.batches.answered.length], [1, 5]);
      const story = await bench.store.story();
      assert.ok(story.includes('item_woken'));
    },
  ],
  [
    'a corpus started in the batch lane has the model of its vectors, and keeps it',
    async (bench) => {
      const lane = new CheapLane(bench);
      const engine = await lane.start();
      const job = await lane.submit({ page: sections('Ada') });
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      const key = { caller: 'ann', corpus: 'notes' };
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'metered');
      await bench.stop(engine);
      const other = meteredEmbedder({ model: 'other' });
      await lane.start({ pipeline: pipelineOf(bench, other, [lane.embedder]), pid: 2 });
      const after = await submitTexts(bench, { more: sections('Bea') });
      await bench.untilJob(after, 'succeeded');
      const models = await bench.store.rows<{ model: string }>(
        'SELECT DISTINCT model FROM vectors',
      );
      assert.deepEqual(
        models.map(({ model }) => model),
        ['metered'],
      );
    },
  ],
  [
    'an unreadable response is charged and not kept: a retry requests only that one',
    async (bench) => {
      const lane = new CheapLane(bench, { hasEntities: true });
      lane.batches.content = () => 'not JSON at all';
      const engine = await lane.start();
      const job = await lane.submit({ page: sections('Ada') });
      await lane.answer();
      await bench.untilJob(job, 'failed');
      assert.equal(lane.batches.answered.length, 2);
      const { tokens_in: tokens, cost_cents: cost } = await costs(bench, job);
      assert.equal(cost, tokens + answerTokens);
      lane.batches.content = () => '{"entities":[]}';
      await engine.commands.retry('ann', job.key);
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 3);
      assert.match(lane.batches.answered[2] ?? '', /^passage-/);
    },
  ],
  [
    'a vector that is longer than the others of its document is not kept',
    async (bench) => {
      const lane = new CheapLane(bench);
      lane.batches.vector = (text) => (text.includes('Eva') ? [1, 2, 3] : [1, 2]);
      const engine = await lane.start();
      const job = await lane.submit({ page: sections(...five) });
      await lane.answer();
      await bench.untilJob(job, 'failed');
      lane.batches.vector = () => [1, 2];
      await engine.commands.retry('ann', job.key);
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, 6);
    },
  ],
  [
    'the responses for a long document are read in pages',
    async (bench) => {
      const lane = new CheapLane(bench);
      const { concurrencyMax } = limits.batch;
      const own = lane.blobs.get;
      let [open, most] = [0, 0];
      lane.blobs.get = async (key) => {
        open += 1;
        most = Math.max(most, open);
        await new Promise(setImmediate);
        open -= 1;
        return own(key);
      };
      await lane.start();
      const names = Array.from({ length: concurrencyMax + 1 }, (_, index) => `N${index}`);
      const job = await lane.submit({ page: sections(...names) });
      await lane.answer();
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, names.length);
      assert.equal(most, concurrencyMax);
    },
  ],
  [
    'batch responses for a canceled job are kept and charged',
    async (bench) => {
      const lane = new CheapLane(bench, { hasEntities: true });
      const engine = await lane.start();
      const job = await lane.submit({ page: sections(...five) }, { budgetCents: 100_000 });
      await lane.answerLater();
      await engine.commands.cancel('ann', job.key);
      assert.equal((await bench.store.rows('SELECT item_id FROM reservations')).length, 2);
      lane.batches.isBusy = false;
      await bench.world.advance(10_000);
      await lane.deliver();
      const asked = lane.batches.answered.length;
      assert.deepEqual([await lane.bank(), await lane.bank()], [1, 0]);
      assert.equal(await lane.lines(), 0);
      assert.deepEqual(await bench.store.rows('SELECT item_id FROM reservations'), []);
      const { cost_cents: cost, tokens_in: tokens } = await costs(bench, job);
      assert.equal(cost, tokens + (asked - five.length) * answerTokens);
      await bench.untilJob(await lane.submit({ other: sections(...five) }), 'succeeded');
      assert.equal(lane.batches.answered.length, asked);
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.equal(lane.batches.answered.length, asked);
      assert.equal((await costs(bench, job)).cost_cents, cost);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'a response is left to the item that is about to use it',
    async (bench) => {
      const lane = new CheapLane(bench);
      const engine = await lane.start();
      const job = await lane.submit({ page: sections(...five) });
      await lane.untilWaiting();
      await bench.stop(engine);
      await lane.deliver();
      assert.equal(await lane.bank(), 0);
      await bench.store.commands.pause('ann', job.key);
      assert.equal(await lane.bank(), 1);
      assert.equal((await costs(bench, job)).cost_cents, 5 * sectionTokens);
    },
  ],
  [
    'a request shared by several documents is sent and paid once',
    async (bench) => {
      const lane = new CheapLane(bench);
      await lane.start();
      const jobs = [await lane.submit({ one: sections('Ada', 'Bea') })];
      // The requests of the first document are sent, and it needs nobody else's.
      await lane.untilWaiting();
      jobs.push(await lane.submit({ two: sections('Bea', 'Ada') }));
      await lane.untilWaiting();
      jobs.push(await lane.submit({ three: sections('Ada', 'Cleo') }));
      await lane.answerLater();
      // It comes while the batch is running.
      jobs.push(await lane.submit({ four: sections('Cleo') }));
      await lane.answer();
      lane.batches.isBusy = false;
      await bench.world.advance(10_000);
      await lane.deliver();
      await bench.untilStory('step_completed embedded');
      assert.equal(await bench.store.withoutCause(), 0);
      await lane.finish(jobs);
      assert.deepEqual([lane.batches.jobs, lane.batches.answered.length], [1, 3]);
      const sums = await Promise.all(jobs.map((job) => costs(bench, job)));
      const sum = (name: keyof (typeof sums)[number]) =>
        sums.reduce((total, each) => total + each[name], 0);
      assert.deepEqual([sum('cost_cents'), sum('tokens_in')], [21, 21]);
      // Four of seven, and what was kept for `four` before `three` used it.
      assert.equal(sum('tokens_saved'), 5 * sectionTokens);
      assert.equal(await lane.lines(), 0);
      assert.deepEqual(bench.errors, []);
    },
  ],
  [
    'a document whose request was sent for another sends it itself if that one failed',
    async (bench) => {
      const lane = new CheapLane(bench);
      lane.batches.refusal = () => 'blocked';
      await lane.start();
      const first = await lane.submit({ one: sections('Ada') });
      await lane.untilWaiting();
      const second = await lane.submit({ two: sections('Ada') });
      await lane.answer();
      await bench.untilJob(first, 'failed');
      lane.batches.refusal = () => undefined;
      await lane.finish([second]);
      assert.equal(lane.batches.jobs, 2);
      assert.equal((await costs(bench, second)).cost_cents, sectionTokens);
    },
  ],
  [
    'a response that another document waits for is not delayed by other requests of its own',
    async (bench) => {
      const lane = new CheapLane(bench, { hasEntities: true });
      await lane.start();
      const first = await lane.submit({ one: sections('Ada') });
      lane.batches.slowType = 'completion';
      await lane.answer();
      const second = await lane.submit({ two: sections('Ada') });
      await lane.answer();
      assert.deepEqual([await lane.bank(), await lane.bank()], [1, 0]);
      assert.equal(lane.batches.answered.length, 1);
      lane.batches.slowType = undefined;
      await lane.finish([first, second]);
      assert.equal(lane.batches.answered.length, 2);
    },
  ],
];
