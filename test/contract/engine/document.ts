import assert from 'node:assert/strict';
import type { BlobStore } from '../../../src/blob/blob.ts';
import { sweepFetched } from '../../../src/engine/item/sweeper.ts';
import { Failure } from '../../../src/kernel/failure/failure.ts';
import { documentPipeline } from '../../../src/pipeline/document.ts';
import { parse } from '../../../src/pipeline/extract/format/parse.ts';
import type { Parser } from '../../../src/pipeline/extract/parsed.ts';
import type { Pipeline, StepFunction } from '../../../src/pipeline/pipeline.ts';
import { staticEmbedder } from '../../../src/provider/embedding/static-embedder.ts';
import { documentIdOf, getDocument, listDocuments } from '../../../src/store/document/documents.ts';
import type { EngineFixture, EngineTest } from '../../support/engine-fixture.ts';
import { extractor } from '../../support/local-extractor.ts';
import { searchStore } from '../../support/search-store.ts';
import type { Submitted } from '../../support/store-fixture.ts';
import { makeLatch } from '../../support/test-world.ts';

const blobs: BlobStore = {
  put: async () => 'unused',
  get: async () => new Uint8Array(),
};
const fetcher = { get: () => Promise.reject(new Error('nothing here is on the web')) };
const parts = { blobs, embedder: staticEmbedder(), fetcher, extractor };
const documents = documentPipeline({ ...parts, parser: parse });
const documentId = documentIdOf('ann', 'notes', 'page');

function submit(bench: EngineFixture, body: string, force = false): Promise<Submitted> {
  const input = { kind: 'markdown', title: null, body } as const;
  return bench.store.submit({ force, sources: [{ kind: 'inline', source: 'page', input }] });
}

async function ingest(bench: EngineFixture, body: string, force = false): Promise<Submitted> {
  const job = await submit(bench, body, force);
  await bench.untilJob(job, 'succeeded');
  return job;
}

async function found(bench: EngineFixture, query: string): Promise<string[]> {
  const request = { caller: 'ann', corpus: 'notes', query };
  return (await searchStore(bench.store.database, request)).map(({ text }) => text);
}

/** The pipeline, with a step that waits for the test if the document asks for it. */
function holding(word: string, step: string): { pipeline: Pipeline; release: () => void } {
  const latch = makeLatch();
  const own = documents.steps[step] as StepFunction;
  const held: StepFunction = async (context) => {
    const rows = await context.reader.run<{ body: string }>(
      { text: 'SELECT body FROM inputs WHERE item_id = :id' },
      { id: context.item.id },
    );
    if (rows[0]?.body.includes(word)) await latch.opened;
    return own(context);
  };
  const pipeline = { ...documents, steps: { ...documents.steps, [step]: held } };
  return { pipeline, release: latch.open };
}

export const documentEngineTests: readonly EngineTest[] = [
  [
    'an ingested document is found by its words, with its heading',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      const job = await ingest(bench, '# Zoo\n\nThe walrus sleeps.\n\n## Cage\n\nA lantern.');
      assert.deepEqual(await found(bench, 'lantern'), ['## Cage\n\nA lantern.']);
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.documents_emitted, row.chunks_indexed], [1, 2]);
    },
  ],
  [
    'a canceled job counts the chunks that search finds, and no others',
    async (bench) => {
      const { pipeline, release } = holding('walrus', 'embedded');
      await bench.start({}, { pipeline });
      const bodies = ['# One\n\nA walrus.\n\n## Two\n\nA lantern.', 'A lantern.'];
      const job = await bench.store.submit({
        sources: bodies.map((body, index) => ({
          kind: 'inline' as const,
          source: `page-${index}`,
          input: { kind: 'markdown' as const, title: null, body },
        })),
      });
      await bench.world.until('the second to be done', async () => {
        const { items_done } = await bench.store.job(job.key);
        return items_done === 1;
      });
      await bench.store.commands.cancel('ann', job.key);
      release();
      await bench.world.advance(1000);
      const row = await bench.store.job(job.key);
      assert.deepEqual(await found(bench, 'lantern'), ['A lantern.']);
      assert.deepEqual([row.state, row.documents_emitted, row.chunks_indexed], ['canceled', 1, 1]);
    },
  ],
  [
    'a document that fails after chunking has no chunk in the counts of its job',
    async (bench) => {
      const embedded: StepFunction = () => Promise.reject(new Failure('provider_auth', 'no'));
      const pipeline = { ...documents, steps: { ...documents.steps, embedded } };
      await bench.start({}, { pipeline });
      const job = await submit(bench, 'A lantern.');
      await bench.untilJob(job, 'failed');
      const row = await bench.store.job(job.key);
      assert.deepEqual([row.documents_emitted, row.chunks_indexed], [0, 0]);
      assert.ok(row.tokens_estimated > 0);
    },
  ],
  [
    'a generation that was replaced before it was indexed is not counted',
    async (bench) => {
      const { pipeline, release } = holding('walrus', 'indexed');
      await bench.start({}, { pipeline });
      const older = await submit(bench, 'A walrus.');
      const newer = await ingest(bench, 'A lantern.');
      release();
      await bench.untilJob(older, 'succeeded');
      const counts = await Promise.all([older, newer].map(({ key }) => bench.store.job(key)));
      assert.deepEqual(
        counts.map((row) => [row.documents_emitted, row.chunks_indexed]),
        [
          [0, 0],
          [1, 1],
        ],
      );
      assert.deepEqual(await found(bench, 'walrus'), []);
    },
  ],
  [
    'a paragraph shared by two documents has an id in each, which is stable on re-ingest',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      const idsOf = async (): Promise<string[]> => {
        const text = `SELECT chunks.key FROM chunks JOIN documents
          ON documents.generation_id = chunks.generation_id ORDER BY documents.source, ordinal`;
        return (await bench.store.rows<{ key: string }>(text)).map(({ key }) => key);
      };
      const read = async (extra = ''): Promise<string[]> => {
        const body = `# Zoo\n\nThe walrus sleeps.\n\n# Zoo\n\nThe walrus sleeps.${extra}`;
        const sources = ['one', 'two'].map((source) => ({
          kind: 'inline' as const,
          source,
          input: { kind: 'markdown' as const, title: null, body },
        }));
        await bench.untilJob(await bench.store.submit({ sources, force: true }), 'succeeded');
        return idsOf();
      };
      const first = await read();
      assert.equal(first.length, 4);
      assert.equal(new Set(first).size, 4);
      assert.deepEqual(await read(), first);
      const longer = await read('\n\n# Cage\n\nA lantern.');
      assert.deepEqual([...longer.slice(0, 2), ...longer.slice(3, 5)], first);
    },
  ],
  [
    'the metadata of a document is listed with it, without what no database accepts',
    async (bench) => {
      const meta = { author: 'A\0da \ud800', pages: 3, date: '1843-07-10' };
      const parser: Parser = async (...call) => ({ ...(await parse(...call)), meta });
      const pipeline = documentPipeline({ ...parts, parser });
      await bench.start({}, { pipeline });
      await ingest(bench, 'The walrus sleeps.');
      const page = { caller: 'ann', corpus: 'notes', after: '', limit: 10 };
      const [row] = await listDocuments(bench.store.database, page);
      assert.deepEqual(row?.meta, { ...meta, author: 'Ada \ufffd' });
      assert.equal(row?.id, documentId);
    },
  ],
  [
    'a document reports its kept share, also if only that has changed',
    async (bench) => {
      let kept_share: number | undefined;
      const parser: Parser = async (...call) => {
        const parsed = await parse(...call);
        return kept_share === undefined ? parsed : { ...parsed, meta: { kept_share } };
      };
      await bench.start({}, { pipeline: documentPipeline({ ...parts, parser }) });
      const shares: unknown[] = [];
      for (const share of [undefined, 0.5, 0.9]) {
        kept_share = share;
        await ingest(bench, 'The walrus sleeps.');
        const row = await getDocument(bench.store.database, documentId);
        shares.push([row?.generation, row?.kept_share]);
      }
      assert.deepEqual(shares, [
        [1, 1],
        [1, 0.5],
        [1, 0.9],
      ]);
    },
  ],
  [
    'text removed from a document is gone from the results after re-ingest',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      await ingest(bench, 'The walrus sleeps.');
      await ingest(bench, 'The lantern glows.');
      assert.deepEqual(await found(bench, 'walrus'), []);
      assert.deepEqual(await found(bench, 'lantern'), ['The lantern glows.']);
      const chunks = await bench.store.rows('SELECT id FROM chunks');
      assert.equal(chunks.length, 1);
      assert.equal((await getDocument(bench.store.database, documentId))?.generation, 2);
    },
  ],
  [
    'a generation without the vectors of its chunks is not persisted, and never shown',
    async (bench) => {
      const steps = { ...documents.steps, embedded: async () => ({}) };
      await bench.start({}, { pipeline: { ...documents, steps } });
      const job = await submit(bench, 'The walrus sleeps.');
      await bench.untilJob(job, 'failed');
      const { error } = await bench.store.item(job.ids[0]);
      const { code, message } = JSON.parse(error ?? '');
      assert.equal(code, 'step_output_invalid');
      assert.match(message, /1 chunks and 0 vectors are stored/);
      assert.deepEqual(await found(bench, 'walrus'), []);
    },
  ],
  [
    'readers see the old generation until the new one is current',
    async (bench) => {
      const { pipeline, release } = holding('lantern', 'indexed');
      await bench.start({}, { pipeline });
      await ingest(bench, 'The walrus sleeps.');
      const job = await submit(bench, 'The lantern glows.');
      await bench.world.until('the new chunks', async () => {
        const { progress } = await bench.store.item(job.ids[0]);
        return bench.store.lifecycle.isReached(progress, 'persisted');
      });
      assert.deepEqual(await found(bench, 'walrus'), ['The walrus sleeps.']);
      assert.deepEqual(await found(bench, 'lantern'), []);
      release();
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await found(bench, 'walrus'), []);
    },
  ],
  [
    'a cancel between the flip and the end leaves nothing of the replaced generation',
    async (bench) => {
      const { pipeline, release } = holding('lantern', 'done');
      const engine = await bench.start({}, { pipeline });
      await ingest(bench, 'The walrus sleeps.');
      const job = await submit(bench, 'The lantern glows.');
      await bench.world.until('the flip', async () => {
        const { progress } = await bench.store.item(job.ids[0]);
        return bench.store.lifecycle.isReached(progress, 'indexed');
      });
      const stored = async (): Promise<string[]> =>
        (await bench.store.rows<{ text: string }>('SELECT text FROM chunks')).map(
          (row) => row.text,
        );
      assert.equal((await stored()).length, 2);
      await engine.commands.cancel('ann', job.key);
      assert.deepEqual(await stored(), ['The lantern glows.']);
      assert.equal((await bench.store.rows('SELECT body FROM texts')).length, 1);
      assert.deepEqual(await found(bench, 'lantern'), ['The lantern glows.']);
      release();
      await engine.commands.retry('ann', job.key);
      await bench.untilJob(job, 'succeeded');
      assert.deepEqual(await found(bench, 'lantern'), ['The lantern glows.']);
    },
  ],
  [
    'unchanged content is skipped, and force overrides that',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      await ingest(bench, 'The walrus sleeps.');
      const generation = async () =>
        (await getDocument(bench.store.database, documentId))?.generation;
      const again = await ingest(bench, 'The walrus sleeps.');
      assert.equal(await generation(), 1);
      const story = await bench.store.events();
      assert.ok(
        story.some(({ kind, itemId }) => kind === 'item_unchanged' && itemId === again.ids[0]),
      );
      await ingest(bench, 'The walrus sleeps.', true);
      assert.equal(await generation(), 2);
      assert.equal((await found(bench, 'walrus')).length, 1);
    },
  ],
  [
    'an older submission that took longer does not replace a newer one',
    async (bench) => {
      const { pipeline, release } = holding('walrus', 'indexed');
      await bench.start({}, { pipeline });
      const slow = await submit(bench, 'The walrus sleeps.');
      await ingest(bench, 'The lantern glows.');
      release();
      await bench.untilJob(slow, 'succeeded');
      assert.deepEqual(await found(bench, 'lantern'), ['The lantern glows.']);
      assert.deepEqual(await found(bench, 'walrus'), []);
    },
  ],
  [
    'the last submission is found, also if it equals the first',
    async (bench) => {
      const { pipeline, release } = holding('walrus', 'indexed');
      await bench.start({}, { pipeline });
      await ingest(bench, 'The lantern glows.');
      const slow = await submit(bench, 'The walrus sleeps.');
      await bench.world.settle();
      await ingest(bench, 'The lantern glows.');
      release();
      await bench.untilJob(slow, 'succeeded');
      assert.deepEqual(await found(bench, 'lantern'), ['The lantern glows.']);
      assert.deepEqual(await found(bench, 'walrus'), []);
    },
  ],
  [
    'a document without words ends in the inbox',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      for (const [body, code] of [
        ['', 'empty_source'],
        ['  \n--- ***', 'no_usable_content'],
      ] as const) {
        const job = await submit(bench, body);
        await bench.untilJob(job, 'failed');
        assert.equal(JSON.parse((await bench.store.item(job.ids[0])).error ?? '').code, code);
      }
    },
  ],
  [
    'a document with a NUL character is accepted or refused, the same way on every store',
    async (bench) => {
      await bench.start({}, { pipeline: documents });
      const job = await submit(bench, 'The walrus sleeps.\n\n&#0; \u0000 The end.').catch(
        (error: unknown) => {
          assert.ok(error instanceof Failure, `${String(error)} is not a failure of the table`);
        },
      );
      if (!job) return;
      await bench.untilJob(job, 'succeeded');
      assert.equal((await found(bench, 'walrus')).length, 1);
    },
  ],
  [
    'inputs of a submission are removed when it is replaced, or its document is deleted',
    async (bench) => {
      const { store } = bench;
      const bodies = async (): Promise<string[]> => {
        const rows = await store.rows<{ body: string }>('SELECT body FROM inputs ORDER BY item_id');
        return rows.map(({ body }) => body);
      };
      await bench.start({}, { pipeline: documents });
      await ingest(bench, 'The walrus sleeps.');
      await ingest(bench, 'The walrus wakes.');
      await ingest(bench, 'The walrus wakes.');
      const failed = await submit(bench, '');
      await bench.untilJob(failed, 'failed');
      await sweepFetched(store.database, undefined);
      assert.deepEqual(await bodies(), ['The walrus wakes.', 'The walrus wakes.', '']);
      await store.commands.deleteDocument('ann', documentId);
      assert.deepEqual(await bodies(), []);
      await store.commands.retryItems('ann', failed.ids);
      await bench.untilJob(failed, 'succeeded');
      assert.equal(await getDocument(store.database, documentId), undefined);
    },
  ],
];
