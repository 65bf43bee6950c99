/** What a model that finds entities costs: its responses are paid once. */
import assert from 'node:assert/strict';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { modelExtractor } from '../../../src/pipeline/entity/model-extractor.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import { PaidAnswers } from '../../../src/pipeline/paid-answers.ts';
import type { Pipeline, StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { Completer } from '../../../src/provider/completion/completion.ts';
import { staticEmbedder } from '../../../src/provider/embedding/static-embedder.ts';
import { getSpending } from '../../../src/store/money/spending.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { meteredCompleter } from '../../support/metered-completer.ts';
import { meteredEmbedder } from '../../support/metered-embedder.ts';
import type { Submitted } from '../../support/store-fixture.ts';
import { submitTexts } from './money.ts';

/** Two cents for each request with its response: 100 tokens for one, 10 for the other. */
const questionCents = 2;

function pipelineOf(
  bench: EngineFixture,
  completer: Completer,
  embedder = staticEmbedder(),
): Pipeline {
  const paidAnswers = new PaidAnswers(bench.store.database, bench.world);
  return documentPipeline({
    blobs: { put: async () => 'unused', get: async () => new Uint8Array() },
    fetcher: { get: () => Promise.reject(new Error('nothing here is on the web')) },
    parser: parse,
    embedder,
    paidAnswers,
    extractor: modelExtractor(completer, paidAnswers),
  });
}

/** So long that it is split into this many different passages. */
function textOf(passages: number): string {
  const tokens = passages * limits.completion.passageTokensMax - 2000;
  return Array.from(
    { length: Math.ceil(tokens / 9) },
    (_, index) => `Walrus number ${index} sleeps on the ice.`,
  ).join('\n\n');
}

async function costs(bench: EngineFixture, { key }: Submitted) {
  const job = await bench.store.job(key);
  const { tokens_in, tokens_out, cost_cents, tokens_saved, saved_cents } = job;
  return { tokens_in, tokens_out, cost_cents, tokens_saved, saved_cents };
}

async function answersKept(bench: EngineFixture): Promise<number> {
  const [row] = await bench.store.rows<{ count: number }>(
    'SELECT COUNT(*) AS count FROM results WHERE tokens_out > 0',
  );
  return row?.count ?? 0;
}

const one = { page: 'Ada Lovelace met a walrus.' };

export const completionTests: readonly EngineTest[] = [
  [
    'a model call is charged with its request and response tokens, and reported',
    async (bench) => {
      const completer = meteredCompleter();
      await bench.start({}, { pipeline: pipelineOf(bench, completer) });
      const job = await submitTexts(bench, one);
      await bench.untilJob(job, 'succeeded');
      const saved = { tokens_saved: 0, saved_cents: 0 };
      assert.deepEqual(await costs(bench, job), {
        ...{ tokens_in: 100, tokens_out: 10, cost_cents: questionCents },
        ...saved,
      });
      const corpus = await getSpending(bench.store.database, { caller: 'ann', corpus: 'notes' });
      assert.deepEqual([corpus.tokens_out, corpus.cost_cents], [10, questionCents]);
      const events = await bench.store.events();
      const told = { tokens_in: 100, tokens_out: 10, cost_cents: questionCents };
      const paid = events.find(({ kind }) => kind === 'work_paid');
      assert.deepEqual(paid?.detail, { model: 'metered-model', answers: 1, ...told });
      const done = events.find(
        (event) => event.kind === 'step_completed' && event.step === 'entity_extracted',
      );
      const { tokens_in, tokens_out, cost_cents } = done?.detail ?? {};
      assert.deepEqual({ tokens_in, tokens_out, cost_cents }, told);
    },
  ],
  [
    'a passage is requested once across documents, and the saving shows',
    async (bench) => {
      const completer = meteredCompleter();
      await bench.start({}, { pipeline: pipelineOf(bench, completer) });
      await bench.untilJob(await submitTexts(bench, one), 'succeeded');
      const again = await submitTexts(bench, { ...one, other: one.page }, { force: true });
      await bench.untilJob(again, 'succeeded');
      assert.deepEqual(completer.asked, [one.page]);
      const { cost_cents, tokens_saved, saved_cents } = await costs(bench, again);
      assert.deepEqual([cost_cents, tokens_saved, saved_cents], [0, 220, 2 * questionCents]);
    },
  ],
  [
    'a step that fails between passages requests only the rest',
    async (bench) => {
      const completer = meteredCompleter();
      let calls = 0;
      completer.before = () => {
        calls += 1;
        if (calls === 6) throw new Failure('network_error', 'gone for a moment');
      };
      await bench.start({}, { pipeline: pipelineOf(bench, completer) });
      const job = await submitTexts(bench, { page: textOf(7) });
      await bench.untilJob(job, 'succeeded');
      const { asked } = completer;
      assert.ok(asked.length >= 6, `${asked.length} passages`);
      assert.equal(new Set(asked).size, asked.length);
      assert.equal(calls, asked.length + 1);
      assert.equal((await costs(bench, job)).cost_cents, asked.length * questionCents);
    },
  ],
  [
    'a process that dies between passages leaves the responses to the next one',
    async (bench) => {
      const completer = meteredCompleter();
      const dying = meteredCompleter();
      let calls = 0;
      // The second group is never answered.
      dying.before = () => {
        calls += 1;
        return calls > limits.completion.passagesAtOnceMax
          ? new Promise(() => undefined)
          : undefined;
      };
      const first = await bench.start({}, { pipeline: pipelineOf(bench, dying), pid: 1 });
      const job = await submitTexts(bench, { page: textOf(7) });
      await bench.world.until('the second group to be requested', async () => calls > 4);
      bench.abandon(first);
      bench.store.livingPids.delete(1);
      await bench.start({}, { pipeline: pipelineOf(bench, completer), pid: 2 });
      await bench.untilJob(job, 'succeeded');
      const asked = [...dying.asked, ...completer.asked];
      assert.equal(dying.asked.length, limits.completion.passagesAtOnceMax);
      assert.ok(completer.asked.length >= 2, `${completer.asked.length} left`);
      assert.equal(new Set(asked).size, asked.length);
      assert.equal((await costs(bench, job)).cost_cents, asked.length * questionCents);
    },
  ],
  [
    'a crash between the response and the commit pays nothing again',
    async (bench) => {
      const completer = meteredCompleter();
      const pipeline = pipelineOf(bench, completer);
      const own = pipeline.steps.entity_extracted as StepFunction;
      const dying: StepFunction = async (context) => {
        await own(context);
        return new Promise(() => undefined);
      };
      const steps = { ...pipeline.steps, entity_extracted: dying };
      const first = await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 1 });
      const job = await submitTexts(bench, one);
      await bench.untilStory('work_paid entity_extracted');
      bench.abandon(first);
      bench.store.livingPids.delete(1);
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(completer.asked.length, 1);
      assert.equal((await costs(bench, job)).cost_cents, questionCents);
    },
  ],
  ...['{"entities":"none"}', ''].map(
    (answer): EngineTest => [
      `a useless response (${answer || 'cut short'}) is charged and not kept: a retry asks again`,
      async (bench) => {
        const completer = meteredCompleter();
        completer.answer = answer;
        const engine = await bench.start({}, { pipeline: pipelineOf(bench, completer) });
        const job = await submitTexts(bench, one);
        await bench.untilJob(job, 'failed');
        assert.equal(completer.asked.length, 1);
        assert.equal((await costs(bench, job)).cost_cents, questionCents);
        assert.equal(await answersKept(bench), 0);
        completer.answer = '{"entities":[]}';
        await engine.commands.retryItems('ann', job.ids);
        await bench.untilJob(job, 'succeeded');
        assert.equal((await costs(bench, job)).cost_cents, 2 * questionCents);
        assert.equal(await answersKept(bench), 1);
      },
    ],
  ),
  [
    'a job is paused before its requests would exceed its budget, and continues',
    async (bench) => {
      const completer = meteredCompleter();
      // 240 cents each, four of them concurrently; somewhat more is reserved for them.
      completer.tokens = { input: 4000, output: 2000 };
      const engine = await bench.start({}, { pipeline: pipelineOf(bench, completer) });
      const job = await submitTexts(bench, { page: textOf(7) }, { budgetCents: 1500 });
      await bench.untilJob(job, 'paused');
      const paused = await bench.store.job(job.key);
      assert.deepEqual([paused.pause_reason, paused.items_failed], ['budget_reached', 0]);
      assert.equal(paused.cost_cents, 960);
      await engine.commands.resume('ann', job.key, 100_000);
      await bench.untilJob(job, 'succeeded');
      assert.equal(new Set(completer.asked).size, completer.asked.length);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'two concurrent paid steps of a document each reserve their own money',
    async (bench) => {
      const reservations: number[] = [];
      const both = Promise.withResolvers<void>();
      const look = async (): Promise<void> => {
        const rows = await bench.store.rows('SELECT * FROM reservations');
        reservations.push(rows.length);
        if (reservations.length === 2) both.resolve();
        await both.promise;
      };
      const [completer, embedder] = [meteredCompleter(), meteredEmbedder()];
      completer.before = look;
      embedder.before = look;
      await bench.start({}, { pipeline: pipelineOf(bench, completer, embedder) });
      const job = await submitTexts(bench, one, { budgetCents: 100_000 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(Math.max(...reservations), 2);
      assert.equal((await bench.store.job(job.key)).cost_cents, questionCents + 5);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'a model without a known price counts its tokens, and takes no budget',
    async (bench) => {
      const completer: Completer = { ...meteredCompleter(), prices: undefined };
      await bench.start({}, { pipeline: pipelineOf(bench, completer) });
      const job = await submitTexts(bench, one);
      await bench.untilJob(job, 'succeeded');
      const { tokens_unpriced, cost_cents } = await bench.store.job(job.key);
      assert.deepEqual([tokens_unpriced, cost_cents], [110, 0]);
      const limited = await submitTexts(bench, { other: 'A lantern.' }, { budgetCents: 1000 });
      await bench.untilJob(limited, 'paused');
      const event = (await bench.store.events()).findLast(({ kind }) => kind === 'job_paused');
      assert.match(String(event?.detail?.message), /set PAWL_EXTRACTOR_PRICE/);
    },
  ],
];
