import assert from 'node:assert/strict';
import type { EngineTest } from '../../support/engine-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';
import { submitTexts } from './money.ts';
import {
  assertWhole,
  begin,
  chunks,
  found,
  ingest,
  key,
  open,
  pipelineWith,
  refuse,
  sentence,
  texts,
} from './rechunk-bench.ts';

export const rechunkRaceTests: readonly EngineTest[] = [
  [
    'a document that was split by the earlier values and becomes current later is split again',
    async (bench) => {
      await ingest(bench);
      const latch = makeLatch();
      const pipeline = pipelineWith(bench, ({ indexed }) => ({
        indexed: async (context) => {
          if (context.item.source === 'late' && context.item.sourceKind === 'inline') {
            await latch.opened;
          }
          return indexed?.(context);
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      const late = await submitTexts(bench, { late: sentence('heron', 12) });
      await bench.world.until('late to be embedded', async () => {
        const { progress } = await bench.store.item(late.ids[0]);
        return bench.store.lifecycle.isReached(progress, 'persisted');
      });
      await bench.untilJob(await begin(bench), 'succeeded');
      latch.open();
      await bench.untilJob(late, 'succeeded');
      assert.ok(((await chunks(bench)).late ?? 0) > 3);
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'a newer text that was submitted before the change and ends after it is not lost',
    async (bench) => {
      await ingest(bench);
      const latch = makeLatch();
      const pipeline = pipelineWith(bench, ({ content_extracted: read }) => ({
        content_extracted: async (context) => {
          if (context.item.sourceKind === 'inline') await latch.opened;
          return read?.(context);
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      const newer = await submitTexts(bench, { one: sentence('heron', 12) });
      await bench.untilJob(await begin(bench), 'succeeded');
      assert.equal((await chunks(bench)).one, 1, 'it is left to the newer text');
      latch.open();
      await bench.untilJob(newer, 'succeeded');
      assert.deepEqual(await found(bench, 'walrus'), []);
      assert.ok((await found(bench, 'heron')).length > 3);
      await assertWhole(bench);
    },
  ],
  [
    'a document whose newer text failed is left to it, and split when that is retried',
    async (bench) => {
      await ingest(bench);
      let isBroken = true;
      const pipeline = pipelineWith(bench, ({ content_extracted: read }) => ({
        content_extracted: async (context) =>
          isBroken && context.item.sourceKind === 'inline' ? refuse(context) : read?.(context),
      }));
      await bench.start({}, { pipeline, pid: 2 });
      const newer = await submitTexts(bench, { one: sentence('heron', 12) });
      await bench.untilJob(newer, 'failed');
      await bench.untilJob(await begin(bench), 'succeeded');
      assert.equal(await open(bench), 1);
      isBroken = false;
      await bench.store.commands.retry('ann', newer.key);
      await bench.untilJob(newer, 'succeeded');
      assert.ok((await found(bench, 'heron')).length > 3);
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'a text that is found unchanged while the values change is split again',
    async (bench) => {
      await ingest(bench);
      const latch = makeLatch();
      let isCompared = false;
      const pipeline = pipelineWith(bench, ({ content_extracted: read }) => ({
        content_extracted: async (context) => {
          const result = await read?.(context);
          if (context.item.sourceKind !== 'inline') return result;
          isCompared = true;
          await latch.opened;
          return result;
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      const same = await submitTexts(bench, { one: texts.one });
      await bench.world.until('the text to be compared', async () => isCompared);
      await bench.untilJob(await begin(bench), 'succeeded');
      assert.equal(await open(bench), 1);
      latch.open();
      await bench.untilJob(same, 'succeeded');
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'a newer text that becomes current meanwhile is not replaced by the older one',
    async (bench) => {
      await ingest(bench);
      const job = await begin(bench);
      const latch = makeLatch();
      const pipeline = pipelineWith(bench, ({ indexed }) => ({
        indexed: async (context) => {
          if (context.item.sourceKind === 'rechunk') await latch.opened;
          return indexed?.(context);
        },
      }));
      await bench.start({}, { pipeline, pid: 2 });
      await bench.untilJob(await submitTexts(bench, { one: sentence('heron', 12) }), 'succeeded');
      latch.open();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await found(bench, 'walrus'), []);
      assert.ok((await found(bench, 'heron')).length > 3);
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
  [
    'values may change again and back while documents are being split',
    async (bench) => {
      await ingest(bench);
      const latch = makeLatch();
      const held = pipelineWith(bench, ({ indexed }) => ({
        indexed: async (context) => {
          await latch.opened;
          return indexed?.(context);
        },
      }));
      const first = await begin(bench);
      await bench.start({}, { pipeline: held, pid: 2 });
      await bench.untilStory('step_completed persisted');
      const second = await begin(bench, { tokensMax: 64 });
      const back = await bench.store.commands.rechunk({
        ...key,
        change: { tokensMax: null, overlapTokens: null },
      });
      assert.equal(back.jobKey, undefined, 'no document has become current by other values');
      latch.open();
      await bench.untilJob(first, 'succeeded');
      await bench.untilJob(second, 'succeeded');
      assert.deepEqual(await chunks(bench), { one: 1, two: 1, three: 1 });
      assert.equal(await open(bench), 0);
      await assertWhole(bench);
    },
  ],
];
