import assert from 'node:assert/strict';
import { pruneMoney } from '../../../src/engine/item/sweeper.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import type { StepFunction } from '../../../src/pipeline/pipeline.ts';
import type { Embedder } from '../../../src/provider/embedding/embedding.ts';
import { Searcher } from '../../../src/search/search.ts';
import { listTurned, pruneOldVectors } from '../../../src/store/corpus/reembedding.ts';
import { getCorpusSettings } from '../../../src/store/corpus/settings.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { type MeteredEmbedder, meteredEmbedder } from '../../support/metered-embedder.ts';
import { makeLatch } from '../../support/test-world.ts';
import { pipelineOf, submitTexts } from './money.ts';

const key = { caller: 'ann', corpus: 'notes' };

interface Models {
  readonly old: MeteredEmbedder;
  readonly next: MeteredEmbedder;
}

function models(): Models {
  return { old: meteredEmbedder({ model: 'old' }), next: meteredEmbedder({ model: 'next' }) };
}

/** How many vectors of each model are stored. */
async function vectors(bench: EngineFixture): Promise<Record<string, number>> {
  const rows = await bench.store.rows<{ model: string; count: number }>(
    'SELECT model, COUNT(*) AS count FROM vectors GROUP BY model',
  );
  return Object.fromEntries(rows.map(({ model, count }) => [model, count]));
}

/** The first hit of a vector search for exactly this text. */
async function nearest(bench: EngineFixture, query: string, { old, next }: Models) {
  const others: readonly Embedder[] = [old];
  const searcher = new Searcher({
    database: bench.store.database,
    embedder: next,
    otherEmbedder: (model) => others.find((other) => other.model === model),
  });
  const [hit] = await searcher.search({ ...key, query, mode: 'vector', topK: 1 });
  return hit?.sourceUrl;
}

async function ingestOld(bench: EngineFixture, { old }: Models) {
  const engine = await bench.start({}, { pipeline: pipelineOf(bench, old), pid: 1 });
  const texts = { one: 'the walrus sleeps', two: 'a lantern glows', three: 'rain on the roof' };
  await bench.untilJob(await submitTexts(bench, texts), 'succeeded');
  await bench.stop(engine);
}

async function begin(bench: EngineFixture) {
  const jobKey = await bench.store.commands.reembed({ ...key, model: 'next' });
  assert.ok(jobKey);
  return { key: jobKey, ids: [], caller: 'ann' };
}

/** As if the first page of a job had only this many documents. */
async function keepFirst(bench: EngineFixture, job: { key: string }, count: number) {
  const { id } = await bench.store.job(job.key);
  const first = `SELECT id FROM items WHERE job_id = ${id} ORDER BY id LIMIT ${count}`;
  await bench.store.database.write(async (transaction) => {
    for (const text of [
      `DELETE FROM items WHERE job_id = ${id} AND id NOT IN (${first})`,
      'DELETE FROM turns WHERE item_id NOT IN (SELECT id FROM items)',
      `UPDATE jobs SET items_total = ${count} WHERE id = ${id}`,
    ]) {
      await transaction.run({ text });
    }
  });
  return bench.store.rows<{ source: string; document_id: string }>(
    `SELECT source, document_id FROM items WHERE job_id = ${id} ORDER BY id`,
  );
}

export const reembedTests: readonly EngineTest[] = [
  [
    'a corpus is searched with its old model until all of it has the new one, and then switches',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const own = pipeline.steps.embedded as StepFunction;
      const latch = makeLatch();
      const held: StepFunction = async (context) => {
        if (context.item.source === 'two') await latch.opened;
        return own(context);
      };
      const steps = { ...pipeline.steps, embedded: held };
      await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      await bench.world.until('two documents', async () => (await vectors(bench)).next === 2);
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'old');
      assert.equal(await nearest(bench, 'rain on the roof', both), 'three');
      latch.open();
      await bench.untilJob(job, 'succeeded');
      const { model, next_model } = await getCorpusSettings(bench.store.database, key);
      assert.deepEqual([model, next_model], ['next', null]);
      assert.equal(await nearest(bench, 'rain on the roof', both), 'three');
      assert.equal((await bench.store.story()).includes('corpus_reembedded'), true);
      await pruneMoney(bench.store.database);
      await pruneMoney(bench.store.database);
      assert.deepEqual(await vectors(bench), { next: 3 });
      assert.equal((await bench.store.rows('SELECT id FROM chunks')).length, 3);
    },
  ],
  [
    'documents ingested meanwhile have vectors of both models, and miss none after the switch',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      // Embedded before the change is announced, and current only after it has happened.
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const own = pipeline.steps.indexed as StepFunction;
      const latch = makeLatch();
      const held: StepFunction = async (context) => {
        if (context.item.source === 'late') await latch.opened;
        return own(context);
      };
      const steps = { ...pipeline.steps, indexed: held };
      await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      const late = await submitTexts(bench, { late: 'snow in april' });
      await bench.untilStory('step_completed persisted');
      const before = await submitTexts(bench, { four: 'the sea is calm' });
      await bench.untilJob(before, 'succeeded');
      const job = await begin(bench);
      await bench.untilJob(job, 'succeeded');
      latch.open();
      await bench.untilJob(late, 'succeeded');
      const after = await submitTexts(bench, { five: 'wind over the hills' });
      await bench.untilJob(after, 'succeeded');
      await pruneMoney(bench.store.database);
      await pruneMoney(bench.store.database);
      const counts = await vectors(bench);
      assert.equal(counts.next, 6);
      for (const [source, text] of [
        ['late', 'snow in april'],
        ['four', 'the sea is calm'],
        ['five', 'wind over the hills'],
      ] as const) {
        assert.equal(await nearest(bench, text, both), source);
      }
    },
  ],
  [
    'money reserved for vectors that were missing at the flip is released',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const own = pipeline.steps.indexed as StepFunction;
      const latch = makeLatch();
      const held: StepFunction = async (context) => {
        if (context.item.source === 'late') await latch.opened;
        return own(context);
      };
      const steps = { ...pipeline.steps, indexed: held };
      await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      // The estimate for a heading exceeds its cost: something is left to release.
      const text = `# ${'Weather '.repeat(12)}\n\nSnow in April.`;
      const late = await submitTexts(bench, { late: text }, { budgetCents: 10_000 });
      await bench.world.until('late to be embedded with the old', async () => {
        const { progress } = await bench.store.item(late.ids[0]);
        return bench.store.lifecycle.isReached(progress, 'persisted');
      });
      await bench.untilJob(await begin(bench), 'succeeded');
      latch.open();
      await bench.untilJob(late, 'succeeded');
      assert.ok(both.next.asked.some((asked) => asked.includes('Snow in April')));
      assert.deepEqual(await bench.store.rows('SELECT * FROM reservations'), []);
    },
  ],
  [
    'a crash in the middle loses nothing and pays nothing twice',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const own = pipeline.steps.embedded as StepFunction;
      const dying: StepFunction = async (context) => {
        const result = await own(context);
        return context.item.source === 'one' ? result : new Promise(() => undefined);
      };
      const steps = { ...pipeline.steps, embedded: dying };
      const first = await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      await bench.world.until('three answers', () => both.next.asked.length === 3);
      await bench.world.settle();
      bench.abandon(first);
      bench.store.livingPids.delete(2);
      await bench.start({}, { pipeline, pid: 3 });
      await bench.untilJob(job, 'succeeded');
      assert.equal(both.next.asked.length, 3);
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'next');
    },
  ],
  [
    'a document that is deleted meanwhile does not keep the corpus from switching',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      const documents = await bench.store.rows<{ id: string }>('SELECT id FROM documents');
      for (const { id } of documents) await bench.store.commands.deleteDocument('ann', id);
      assert.equal((await bench.store.job(job.key)).state, 'canceled');
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'next');
    },
  ],
  [
    'a cancel leaves the corpus as it was, and re-embedding restarts only on request',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      assert.equal(await bench.store.commands.reembed({ ...key, model: 'next' }), job.key);
      const third = bench.store.commands.reembed({ ...key, model: 'third' });
      await assert.rejects(third, { code: 'action_not_allowed', message: /cancel it first/ });
      await bench.store.commands.cancel('ann', job.key);
      const { model, next_model } = await getCorpusSettings(bench.store.database, key);
      assert.deepEqual([model, next_model], ['old', null]);
      const same = bench.store.commands.reembed({ ...key, model: 'old' });
      await assert.rejects(same, { code: 'action_not_allowed', message: /another model/ });
      const none = bench.store.commands.reembed({ caller: 'ann', corpus: 'none', model: 'next' });
      await assert.rejects(none, { code: 'corpus_unknown' });
    },
  ],
  [
    'a corpus whose model is not configured is not embedded with another one',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      await bench.start({}, { pipeline: pipelineOf(bench, both.next), pid: 2 });
      const job = await submitTexts(bench, { four: 'the sea is calm' });
      await bench.untilJob(job, 'failed');
      const { error } = await bench.store.job(job.key);
      assert.match(String(error), /computed with old, which is not configured/);
      assert.deepEqual(both.next.asked, []);
    },
  ],
  [
    'a job with only the first page gets the other documents, and the corpus switches',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      await keepFirst(bench, job, 1);
      await bench.start({}, { pipeline: pipelineOf(bench, both.next, [both.old]), pid: 2 });
      await bench.untilJob(job, 'succeeded');
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'next');
      const { items_total, items_done } = await bench.store.job(job.key);
      assert.deepEqual([items_total, items_done], [3, 3]);
      assert.equal((await vectors(bench)).next, 3);
    },
  ],
  [
    'a job continues with the next page if the last document of the first has failed',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      const [, last] = await keepFirst(bench, job, 2);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const own = pipeline.steps.embedded as StepFunction;
      let isBroken = true;
      const failing: StepFunction = async (context) => {
        if (!isBroken || context.item.source !== last?.source) return own(context);
        throw new Failure('provider_rejected', 'not this one');
      };
      const steps = { ...pipeline.steps, embedded: failing };
      await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      await bench.untilJob(job, 'succeeded');
      const { items_total, items_done, items_failed } = await bench.store.job(job.key);
      assert.deepEqual([items_total, items_done, items_failed], [3, 2, 1]);
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'old');
      isBroken = false;
      await bench.store.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'next');
      assert.equal((await bench.store.job(job.key)).items_total, 3);
    },
  ],
  [
    'a job continues with the next page if the last document of the first is deleted',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      const [last] = await keepFirst(bench, job, 1);
      await bench.store.commands.deleteDocument('ann', last?.document_id ?? '');
      await bench.start({}, { pipeline: pipelineOf(bench, both.next, [both.old]), pid: 2 });
      await bench.untilJob(job, 'succeeded');
      const { items_total, items_done, items_canceled } = await bench.store.job(job.key);
      assert.deepEqual([items_total, items_done, items_canceled], [3, 2, 1]);
      assert.equal((await getCorpusSettings(bench.store.database, key)).model, 'next');
    },
  ],
  [
    'a job in which every document has failed requests nothing for the others',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const job = await begin(bench);
      await keepFirst(bench, job, 1);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      const failing: StepFunction = async () => {
        throw new Failure('provider_auth', 'the key is wrong');
      };
      const steps = { ...pipeline.steps, embedded: failing };
      await bench.start({}, { pipeline: { ...pipeline, steps }, pid: 2 });
      await bench.untilJob(job, 'failed');
      assert.equal((await bench.store.job(job.key)).items_total, 1);
    },
  ],
  [
    'a corpus that switches back keeps the vectors that were about to be removed',
    async (bench) => {
      const both = models();
      await ingestOld(bench, both);
      const pipeline = pipelineOf(bench, both.next, [both.old]);
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(await begin(bench), 'succeeded');
      const { database, commands } = bench.store;
      const [turned] = await listTurned(database);
      assert.ok(turned);
      const prune = () =>
        database.write((transaction) => pruneOldVectors(transaction, turned, 100));
      const back = await commands.reembed({ ...key, model: 'old' });
      assert.equal(await prune(), 0);
      await bench.untilJob({ key: back ?? '', ids: [], caller: 'ann' }, 'succeeded');
      assert.equal((await getCorpusSettings(database, key)).model, 'old');
      assert.equal(await prune(), 0, 'a removal that began before stops');
      await pruneMoney(database);
      await pruneMoney(database);
      assert.deepEqual(await vectors(bench), { old: 3 });
      assert.equal(await nearest(bench, 'rain on the roof', both), 'three');
    },
  ],
];
