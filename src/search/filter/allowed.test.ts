import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { turnsDuring } from '../../../test/support/measure.ts';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { open, type SourceInput } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { sessionOf } from '../../library/internal.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import type { Nearest, VectorSink } from '../../sink/sink.ts';
import { writeSinkPlace } from '../../store/delivery/sinks.ts';
import { getCurrent } from '../../store/document/contents.ts';
import { documentIdOf } from '../../store/document/documents.ts';
import type { Database } from '../../store/driver/database.ts';
import { type SearchFilter, toPassageFilter } from '../request.ts';
import { Searcher } from '../search.ts';
import { SinkIndex } from '../vector/sink-index.ts';
import { readAllowed } from './allowed.ts';

const caller = 'local';
const corpus = 'birds';
const heron = (round: number, title = 'Heron', heading = 'Habits'): SourceInput => ({
  id: 'heron',
  title,
  markdown: `# ${heading}\n\nThe heron waits in the reeds for round ${round}.`,
});

/** A search during which a document is replaced, right after the filter was first read. */
async function setup(t: Cleanup, replacement: SourceInput) {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  const ingest = async (input: SourceInput): Promise<unknown> =>
    (await pawl.ingest([input], { corpus })).wait();
  await ingest(heron(1));
  await ingest({ id: 'owl', title: 'Owl', text: 'The owl sleeps in the barn.' });
  let isReplaced = false;
  const database: Database = Object.create(sessionOf(pawl).store);
  Object.assign(database, {
    early: database,
    flushed: () => sessionOf(pawl).store.flushed(),
    run: async (...asked: Parameters<Database['run']>) => {
      const rows = await sessionOf(pawl).store.run(...asked);
      const isFilter = asked[0].text.includes('documents.id AS document_id');
      if (isFilter && !isReplaced) {
        isReplaced = true;
        await ingest(replacement);
      }
      return rows;
    },
    now: () => sessionOf(pawl).store.now(),
    dialect: sessionOf(pawl).store.dialect,
  });
  const searcher = new Searcher({ database, embedder: staticEmbedder() });
  // So that the copy in memory only has to follow.
  await searcher.search({ caller, corpus, query: 'heron' });
  const search = async (mode: 'hybrid' | 'vector' | 'keyword', filter: SearchFilter) => {
    isReplaced = false;
    const hits = await searcher.search({ caller, corpus, query: 'heron reeds', mode, filter });
    assert.ok(isReplaced);
    return hits.map(({ title, heading, text }) => ({ title, heading, text }));
  };
  return { pawl, ingest, search };
}

const filters: readonly SearchFilter[] = [
  { title: 'heron' },
  { heading: 'habits' },
  { title: 'heron', heading: 'habits' },
];

describe('a search with a filter under which a document is replaced', () => {
  for (const mode of ['hybrid', 'vector', 'keyword'] as const) {
    test(`sees the new generation: ${mode}`, async (t) => {
      const { ingest, search } = await setup(t, heron(2));
      for (const filter of filters) {
        const [hit, ...others] = await search(mode, filter);
        assert.match(hit?.text ?? '', /round 2/, JSON.stringify(filter));
        assert.deepEqual(others, []);
        await ingest(heron(1));
      }
    });

    test(`shows nothing that the filter no longer allows: ${mode}`, async (t) => {
      const { ingest, search } = await setup(t, heron(2, 'Crane', 'Travels'));
      for (const filter of filters) {
        assert.deepEqual(await search(mode, filter), [], JSON.stringify(filter));
        await ingest(heron(1));
      }
    });
  }

  test('sees the new generation in a sink that has forgotten the old one', async (t) => {
    const { pawl, ingest } = await setup(t, heron(1));
    const database = sessionOf(pawl).store;
    let asked = 0;
    const nearest = async ({ within }: Nearest) => {
      asked += 1;
      if (asked === 1) await ingest(heron(2));
      const id = documentIdOf(caller, corpus, 'inline:heron');
      const [row] = await getCurrent(database, { caller, corpus, ids: [id] });
      assert.ok(row && within && 'generations' in within);
      const { generation_id: generationId } = row;
      if (!within.generations.includes(generationId)) return [];
      return [{ documentId: id, generationId, ordinal: 0, score: 1 }];
    };
    const sink = { name: 'copy', nearest } as unknown as VectorSink;
    await database.write((transaction) => writeSinkPlace(transaction, sink.name, 0));
    const otherwise = { search: () => assert.fail('the sink is filled') };
    const mirror = new SinkIndex({ database, sink, otherwise });
    const searcher = new Searcher({ database, embedder: staticEmbedder(), mirror });
    const filter = { title: 'heron' };
    const hits = await searcher.search({ caller, corpus, query: 'reeds', mode: 'vector', filter });
    assert.match(hits[0]?.text ?? '', /round 2/);
    assert.equal(asked, 2);
  });
});

test('a filter by heading yields to the event loop and covers all documents', async (t) => {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  const count = limits.search.mirrorPageMax + 1;
  const inputs = Array.from({ length: count }, (_, n) => ({
    id: `heron ${n}`,
    title: `Heron ${n}`,
    markdown: `# Habits\n\nThe heron waits in the reeds for round ${n}.`,
  }));
  await (await pawl.ingest(inputs, { corpus })).wait();
  const filter = toPassageFilter({ heading: 'habits' });
  assert.ok(filter);
  const turns = await turnsDuring(async () => {
    const allowed = await readAllowed(sessionOf(pawl).store, { caller, corpus, filter });
    assert.equal(allowed.documents.size, count);
  });
  assert.ok(turns >= 2, `${turns} turns`);
});
