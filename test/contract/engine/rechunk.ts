import assert from 'node:assert/strict';
import { getCorpusSettings } from '../../../src/store/corpus/settings.ts';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';
import { pipelineOf, submitTexts } from './money.ts';
import {
  assertWhole,
  begin,
  chunks,
  embedder,
  found,
  ingest,
  keepFirst,
  key,
  open,
  pipelineWith,
  refuse,
  small,
  texts,
} from './rechunk-bench.ts';

export const rechunkTests: readonly EngineTest[] = [
  [
    'documents are split again from their stored text, and keep what is known of them',
    async (bench) => {
      await ingest(bench);
      const [before] = await bench.store.rows<Record<string, unknown>>(
        `SELECT title, content_hash, kept_share, text_bytes, updated_at, generation
         FROM documents WHERE source = 'one'`,
      );
      const metadata = `UPDATE documents SET metadata = '{"team":"rivers"}' WHERE source = 'one'`;
      await bench.store.database.write((transaction) => transaction.run({ text: metadata }));
      assert.deepEqual(await chunks(bench), { one: 1, two: 1, three: 1 });
      const job = await begin(bench);
      assert.equal(await open(bench), 3);
      const pipeline = pipelineOf(bench, embedder(), [], () => assert.fail('nothing is parsed'));
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(job, 'succeeded');
      const after = await chunks(bench);
      assert.ok((after.one ?? 0) > 3 && (after.two ?? 0) > 3, JSON.stringify(after));
      assert.equal(after.three, 1);
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
      const [row] = await bench.store.rows<Record<string, unknown>>(
        `SELECT title, content_hash, kept_share, text_bytes, updated_at, generation, metadata,
           chunking FROM documents WHERE source = 'one'`,
      );
      const known = { ...before, generation: Number(before?.generation) + 1 };
      const own = { metadata: '{"team":"rivers"}', chunking: '32/0' };
      assert.deepEqual({ ...row, generation: Number(row?.generation) }, { ...known, ...own });
      assert.deepEqual(new Set(await found(bench, 'otter')), new Set(['two']));
    },
  ],
  [
    'a document is found as it was until its new chunks are complete',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      const latch = makeLatch();
      const pipeline = pipelineWith(bench, ({ indexed }) => ({
        indexed: async (context) => {
          if (context.item.source === 'two') await latch.opened;
          return indexed?.(context);
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      await bench.world.until('the others to be split', async () => (await open(bench)) === 1);
      assert.deepEqual(await found(bench, 'otter'), ['two']);
      assert.equal((await chunks(bench)).two, 1);
      latch.open();
      await bench.untilJob(job, 'succeeded');
      assert.ok((await found(bench, 'otter')).length > 3);
      await assertWhole(bench);
    },
  ],
  [
    'the same text is not unchanged if it was split by other values',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      await bench.store.commands.cancel('ann', job.key);
      await bench.start({}, { pipeline: pipelineWith(bench), pid: 2 });
      await bench.untilJob(await submitTexts(bench, { one: texts.one }), 'succeeded');
      const after = await chunks(bench);
      assert.ok((after.one ?? 0) > 3);
      assert.equal(after.two, 1);
      assert.equal(await open(bench), 2);
    },
  ],
  [
    'a canceled job leaves every document whole, and the same values again continue',
    async (bench) => {
      await ingest(bench);
      const first = await begin(bench);
      await bench.store.commands.cancel('ann', first.key);
      assert.deepEqual(await chunks(bench), { one: 1, two: 1, three: 1 });
      const again = await begin(bench);
      await bench.start({}, { pipeline: pipelineWith(bench), pid: 2 });
      await bench.untilJob(again, 'succeeded');
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
      const none = await bench.store.commands.rechunk({ ...key, change: {} });
      assert.equal(none.jobKey, undefined);
      assert.deepEqual(none.chunking, { tokensMax: 32, overlapTokens: 0 });
    },
  ],
  [
    'a job with only the first page gets the other documents, also if its last document failed',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      await keepFirst(bench, job, 2);
      const rows = await bench.store.rows<{ source: string }>(
        `SELECT source FROM items WHERE source_kind = 'rechunk' ORDER BY id`,
      );
      let isBroken = true;
      const pipeline = pipelineWith(bench, ({ chunked }) => ({
        chunked: async (context) =>
          isBroken && context.item.source === rows.at(-1)?.source
            ? refuse(context)
            : chunked?.(context),
      }));
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(job, 'succeeded');
      const { items_total, items_done, items_failed } = await bench.store.job(job.key);
      assert.deepEqual([items_total, items_done, items_failed], [3, 2, 1]);
      assert.equal(await open(bench), 1);
      isBroken = false;
      await bench.store.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'a document that is deleted meanwhile stays deleted',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      const latch = makeLatch();
      const pipeline = pipelineWith(bench, ({ indexed }) => ({
        indexed: async (context) => {
          if (context.item.source === 'one') await latch.opened;
          return indexed?.(context);
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      await bench.world.until('the others to be split', async () => (await open(bench)) === 1);
      const [row] = await bench.store.rows<{ id: string }>(
        `SELECT id FROM documents WHERE source = 'one'`,
      );
      await bench.store.commands.deleteDocument('ann', String(row?.id));
      latch.open();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(Object.keys(await chunks(bench)).sort(), ['three', 'two']);
      await assertWhole(bench);
    },
  ],
  [
    'a crash in the middle loses nothing, and each document is split by one set of values',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      const dying = pipelineWith(bench, ({ entity_extracted: own }) => ({
        entity_extracted: (context) =>
          context.item.source === 'three' ? Promise.resolve(own?.(context)) : new Promise(() => {}),
      }));
      const first = await bench.start({}, { pipeline: dying, pid: 2 });
      await bench.world.until('one document', async () => (await open(bench)) === 2);
      await bench.world.settle();
      bench.abandon(first);
      bench.store.livingPids.delete(2);
      // Chunks of the first process may be stored: the branches that are left must match them.
      const second = await begin(bench, { tokensMax: 64 });
      await bench.start({}, { pipeline: pipelineWith(bench), pid: 3 });
      await bench.untilJob(job, 'succeeded');
      await bench.untilJob(second, 'succeeded');
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'values out of bounds change nothing',
    async (bench) => {
      await ingest(bench);
      const change = { tokensMax: 100, overlapTokens: 50 };
      const refused = bench.store.commands.rechunk({ ...key, change });
      await assert.rejects(refused, { code: 'bad_request', message: /less than half/ });
      assert.equal((await getCorpusSettings(bench.store.database, key)).chunking, null);
    },
  ],
  [
    'values that are set before the first document hold for it, without a job',
    async (bench) => {
      const set = await bench.store.commands.rechunk({ ...key, change: small });
      assert.equal(set.jobKey, undefined);
      await ingest(bench);
      assert.ok(((await chunks(bench)).one ?? 0) > 3);
      assert.equal(await open(bench), 0);
    },
  ],
];
