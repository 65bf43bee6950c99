import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import { pruneMoney } from '../../../src/engine/item/sweeper.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import type { Parser } from '../../../src/pipeline/extract/parsed.ts';
import { PaidAnswers } from '../../../src/pipeline/paid-answers.ts';
import type { Pipeline, StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { Embedder } from '../../../src/provider/embedding/embedding.ts';
import {
  getResults,
  keyOf,
  pruneResults,
  putResults,
} from '../../../src/store/money/paid-answers.ts';
import { getSpending } from '../../../src/store/money/spending.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { extractor } from '../../support/local-extractor.ts';
import { type MeteredEmbedder, meteredEmbedder } from '../../support/metered-embedder.ts';
import { fakeTokens } from '../../support/openai-server.ts';
import type { Submitted } from '../../support/store-fixture.ts';

const blobs = { put: async () => 'unused', get: async () => new Uint8Array() };
const fetcher = { get: () => Promise.reject(new Error('nothing here is on the web')) };

export function pipelineOf(
  bench: EngineFixture,
  embedder: Embedder,
  others: readonly Embedder[] = [],
  parser: Parser = parse,
): Pipeline {
  return documentPipeline({
    blobs,
    fetcher,
    parser,
    extractor,
    embedder,
    otherEmbedder: (model) => others.find((other) => other.model === model),
    paidAnswers: new PaidAnswers(bench.store.database, bench.world),
  });
}

async function setup(bench: EngineFixture, embedder: MeteredEmbedder = meteredEmbedder()) {
  const engine = await bench.start({}, { pipeline: pipelineOf(bench, embedder) });
  return { engine, embedder };
}

/** A job with one document per text, named by the key of the text. */
export async function submitTexts(
  bench: EngineFixture,
  texts: Readonly<Record<string, string>>,
  more: { budgetCents?: number; force?: boolean; caller?: string; lane?: 'now' | 'cheap' } = {},
): Promise<Submitted> {
  const caller = more.caller ?? 'ann';
  const sources = Object.entries(texts).map(([source, body]) => ({
    kind: 'inline' as const,
    source,
    input: { kind: 'text' as const, title: null, body },
  }));
  const input = { caller, corpus: 'notes', sources, ...more };
  const { jobKey, itemIds } = await bench.store.commands.submit(input);
  return { key: jobKey, ids: itemIds, caller };
}

const untilPaused = (bench: EngineFixture, job: Submitted) => bench.untilJob(job, 'paused');

/** Ten documents of four tokens each: four cents per document. */
const ten = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`page-${index}`, `walrus number ${index} sleeps`]),
);

async function costs(bench: EngineFixture, { key, caller }: Submitted) {
  const { tokens_in, cost_cents, tokens_saved, saved_cents } = await bench.store.job(key);
  const [items] = await bench.store.rows<{ cost: number }>(
    `SELECT SUM(items.cost_cents) AS cost FROM items JOIN jobs ON jobs.id = items.job_id
      WHERE jobs.key = :key`,
    { key },
  );
  const corpus = await getSpending(bench.store.database, { caller, corpus: 'notes' });
  return { tokens_in, cost_cents, tokens_saved, saved_cents, items: items?.cost, corpus };
}

function raise(engine: Engine, { key }: Submitted, cents: number): Promise<void> {
  return engine.commands.resume('ann', key, cents);
}

export const moneyTests: readonly EngineTest[] = [
  [
    'a cost is charged to the item, its job, the corpus and the caller, and reported',
    async (bench) => {
      const { embedder } = await setup(bench);
      const job = await submitTexts(bench, { page: 'the walrus sleeps' });
      await bench.untilJob(job, 'succeeded');
      assert.equal(embedder.asked.length, 1);
      const { corpus, ...own } = await costs(bench, job);
      const saved = { tokens_saved: 0, saved_cents: 0 };
      assert.deepEqual(own, { tokens_in: 3, cost_cents: 3, items: 3, ...saved });
      assert.deepEqual([corpus.tokens_in, corpus.cost_cents], [3, 3]);
      const all = await getSpending(bench.store.database, { caller: 'ann' });
      assert.equal(all.cost_cents, 3);
      const events = await bench.store.events();
      const paid = events.find(({ kind }) => kind === 'work_paid');
      const detail = { model: 'metered', answers: 1, tokens_in: 3, cost_cents: 3 };
      assert.deepEqual(paid?.detail, detail);
      const done = events.find(
        (event) => event.kind === 'step_completed' && event.step === 'embedded',
      );
      assert.deepEqual(
        [done?.detail?.model, done?.detail?.tokens_in, done?.detail?.cost_cents],
        ['metered', 3, 3],
      );
    },
  ],
  [
    'a step that fails after its first calls reports their model, tokens and cost',
    async (bench) => {
      const { embedder } = await setup(bench);
      let calls = 0;
      embedder.before = () => {
        calls++;
        if (calls > 1) throw new Failure('provider_auth', 'the key is no longer valid');
      };
      const sections = Array.from(
        { length: limits.budget.embeddingBatchMax + 1 },
        (_, index) => `# Part ${index}\n\nThe walrus sleeps ${index} hours.`,
      );
      const job = await submitTexts(bench, { page: sections.join('\n\n') });
      await bench.untilJob(job, 'failed');
      const events = await bench.store.events();
      const paid = events.find(({ kind }) => kind === 'work_paid')?.detail;
      const failed = events.find(({ kind }) => kind === 'step_failed')?.detail;
      assert.ok(Number(paid?.tokens_in) > 0);
      assert.deepEqual(
        [failed?.model, failed?.tokens_in, failed?.cost_cents],
        ['metered', paid?.tokens_in, paid?.cost_cents],
      );
      const { tokens_in, cost_cents } = await bench.store.item(job.ids[0]);
      assert.deepEqual([tokens_in, cost_cents], [paid?.tokens_in, paid?.cost_cents]);
    },
  ],
  [
    'a text is paid once across documents and generations, and the saving shows',
    async (bench) => {
      const { embedder } = await setup(bench);
      const first = await submitTexts(bench, { page: 'the walrus sleeps' });
      await bench.untilJob(first, 'succeeded');
      const again = { page: 'the walrus sleeps', other: 'the walrus sleeps' };
      const second = await submitTexts(bench, again, { force: true, caller: 'ann' });
      await bench.untilJob(second, 'succeeded');
      assert.deepEqual(embedder.asked, ['the walrus sleeps']);
      const { corpus: _, ...own } = await costs(bench, second);
      assert.deepEqual(own, {
        ...{ tokens_in: 0, cost_cents: 0, items: 0 },
        ...{ tokens_saved: 6, saved_cents: 6 },
      });
    },
  ],
  [
    'a crash between the response and the commit pays nothing again, and charges it once',
    async (bench) => {
      const embedder = meteredEmbedder();
      const pipeline = pipelineOf(bench, embedder);
      const own = pipeline.steps.embedded as StepFunction;
      const dying: StepFunction = async (context) => {
        await own(context);
        return new Promise(() => undefined);
      };
      const steps = { ...pipeline.steps, embedded: dying };
      const first = await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 1 });
      const job = await submitTexts(bench, { page: 'the walrus sleeps' });
      await bench.untilStory('work_paid embedded');
      bench.abandon(first);
      bench.store.livingPids.delete(1);
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(embedder.asked, ['the walrus sleeps']);
      const { cost_cents, items, corpus } = await costs(bench, job);
      assert.deepEqual([cost_cents, items, corpus.cost_cents], [3, 3, 3]);
    },
  ],
  [
    'a step that fails after it has paid for a part pays only for the rest',
    async (bench) => {
      const { embedder } = await setup(bench);
      const body = Array.from({ length: 120 }, (_, index) => `# Part ${index}\n\nA walrus.`);
      let calls = 0;
      embedder.before = () => {
        calls += 1;
        if (calls === 2) throw new Failure('network_error', 'gone for a moment');
      };
      const job = await submitTexts(bench, { page: body.join('\n\n') });
      await bench.untilJob(job, 'succeeded');
      assert.equal(calls, 3);
      assert.equal(embedder.asked.length, 120);
      assert.equal(new Set(embedder.asked).size, 120);
    },
  ],
  [
    'a job is paused before it would exceed its budget, and continues with a higher one',
    async (bench) => {
      const { engine, embedder } = await setup(bench);
      const job = await submitTexts(bench, ten, { budgetCents: 18 });
      await untilPaused(bench, job);
      await bench.world.settle();
      const paused = await bench.store.job(job.key);
      assert.equal(paused.pause_reason, 'budget_reached');
      assert.ok(paused.cost_cents <= 18, `cost ${paused.cost_cents}`);
      assert.ok(paused.cost_cents >= 12, `cost ${paused.cost_cents}`);
      assert.equal(paused.items_failed, 0);
      assert.equal(await bench.store.withoutCause(), 0);
      const event = (await bench.store.events()).findLast(({ kind }) => kind === 'job_paused');
      assert.equal(event?.detail?.reason, 'budget_reached');
      assert.match(String(event?.detail?.message), /budget of this job is 18 cents/);
      const same = engine.commands.resume('ann', job.key);
      await assert.rejects(same, { code: 'action_not_allowed', message: /--budget-cents/ });
      await assert.rejects(raise(engine, job, 18), { code: 'action_not_allowed' });
      await raise(engine, job, 100);
      await bench.untilJob(job, 'succeeded');
      assert.equal(embedder.asked.length, 10);
      const done = await bench.store.job(job.key);
      assert.deepEqual([done.cost_cents, done.pause_reason, done.items_done], [40, null, 10]);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'concurrent spending of two processes stays within the budget of a job',
    async (bench) => {
      const embedder = meteredEmbedder();
      let together = 0;
      embedder.before = async () => {
        together += 1;
        await new Promise((resolve) => bench.world.setTimer(() => resolve(undefined), 100));
      };
      const pipeline = pipelineOf(bench, embedder);
      await bench.start({}, { pipeline, pid: 1, places: 4 });
      await bench.start({}, { pipeline, pid: 2, places: 4 });
      const job = await submitTexts(bench, ten, { budgetCents: 22 });
      await untilPaused(bench, job);
      // Running calls are still paid, kept and charged.
      await bench.world.advance(1000);
      const { cost_cents } = await bench.store.job(job.key);
      assert.ok(cost_cents <= 22, `cost ${cost_cents}`);
      assert.equal(cost_cents, 4 * embedder.asked.length);
      assert.ok(together <= 5, `${together} calls`);
    },
  ],
  [
    'the budget of a corpus holds for all its jobs together',
    async (bench) => {
      const { engine } = await setup(bench);
      const key = { caller: 'ann', corpus: 'notes' };
      await engine.commands.setCorpusBudget({ ...key, budgetCents: 30 });
      const [first, ...rest] = Object.entries(ten);
      await bench.untilJob(
        await submitTexts(bench, Object.fromEntries([first as never])),
        'succeeded',
      );
      const job = await submitTexts(bench, Object.fromEntries(rest));
      await untilPaused(bench, job);
      await bench.world.settle();
      assert.equal((await bench.store.job(job.key)).pause_reason, 'corpus_budget_reached');
      const spent = await getSpending(bench.store.database, key);
      assert.ok(spent.cost_cents <= 30, `cost ${spent.cost_cents}`);
      await engine.commands.setCorpusBudget({ ...key, budgetCents: null });
      await engine.commands.resume('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.equal((await getSpending(bench.store.database, key)).cost_cents, 40);
    },
  ],
  [
    'an empty account pauses the job, and fails nothing',
    async (bench) => {
      const { engine, embedder } = await setup(bench);
      embedder.before = () => {
        throw new Failure('provider_quota', 'the account is empty');
      };
      const job = await submitTexts(bench, ten);
      await untilPaused(bench, job);
      const { pause_reason, items_failed } = await bench.store.job(job.key);
      assert.deepEqual([pause_reason, items_failed], ['quota_exhausted', 0]);
      embedder.before = () => undefined;
      await engine.commands.resume('ann', job.key);
      await bench.untilJob(job, 'succeeded');
    },
  ],
  [
    'an unknown cost is not counted as zero, and a budget needs a price',
    async (bench) => {
      const embedder = meteredEmbedder({ centsPerMillionTokens: Number.NaN });
      await setup(bench, embedder);
      const job = await submitTexts(bench, { page: 'the walrus sleeps' });
      await bench.untilJob(job, 'succeeded');
      const { tokens_unpriced, cost_cents } = await bench.store.job(job.key);
      assert.deepEqual([tokens_unpriced, cost_cents], [3, 0]);
      const limited = await submitTexts(bench, { other: 'a lantern' }, { budgetCents: 1000 });
      await untilPaused(bench, limited);
      assert.deepEqual(embedder.asked, ['the walrus sleeps']);
    },
  ],
  [
    'money reserved by a dead process is released',
    async (bench) => {
      const { database } = bench.store;
      const job = await submitTexts(bench, { page: 'the walrus sleeps' }, { budgetCents: 10 });
      const { id } = await bench.store.job(job.key);
      await database.write((transaction) =>
        transaction.run(
          {
            text: `INSERT INTO reservations (item_id, step, job_id, caller, corpus, cents, until)
              VALUES (999, 'embedded', :id, 'ann', 'notes', 9, :until)`,
          },
          { id, until: bench.world.now() + 60_000 },
        ),
      );
      const { embedder } = await setup(bench);
      await untilPaused(bench, job);
      assert.deepEqual(embedder.asked, []);
      bench.world.skip(60_001);
      await bench.store.commands.resume('ann', job.key, 10.5);
      await bench.untilJob(job, 'succeeded');
      await pruneMoney(database);
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'responses are kept up to an age and a number, the newest longest',
    async ({ store: { database } }) => {
      const rows = Array.from({ length: 6 }, (_, index) => ({
        key: keyOf({ step: 'embedded', model: 'm', input: `text ${index}` }),
        value: Uint8Array.of(index),
        tokens: fakeTokens('one'),
        tokens_out: 0,
      }));
      for (const [now, row] of rows.entries()) {
        await database.write((transaction) => putResults(transaction, [row], { model: 'm', now }));
      }
      const left = async (): Promise<number[]> => {
        const found = await getResults(
          database,
          rows.map(({ key }) => key),
        );
        return rows.flatMap(({ key }, index) => (found.has(key) ? [index] : []));
      };
      const prune = (before: number, rowsMax: number, limit: number): Promise<number> =>
        database.write((transaction) => pruneResults(transaction, { before, rowsMax, limit }));
      assert.equal(await prune(2, 100, 10), 2);
      assert.deepEqual(await left(), [2, 3, 4, 5]);
      assert.equal(await prune(0, 3, 10), 1);
      assert.equal(await prune(0, 1, 1), 1);
      assert.deepEqual(await left(), [4, 5]);
    },
  ],
];
