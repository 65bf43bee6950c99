import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnsDuring } from '../../../test/support/measure.ts';
import { type Cleanup, temporaryDirectory } from '../../../test/support/temporary.ts';
import { type InlineDocument, open } from '../../index.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { sessionOf } from '../../library/internal.ts';
import { staticEmbedder } from '../../provider/embedding/static-embedder.ts';
import { flip } from '../../store/document/documents.ts';
import type { Database } from '../../store/driver/database.ts';
import { toPassageFilter } from '../request.ts';
import { Searcher } from '../search.ts';
import { FilterCache } from './filter-cache.ts';

const place = { caller: 'local', corpus: 'birds' };
const heron = (team: string): InlineDocument => ({
  id: 'heron',
  text: 'The heron waits in the reeds.',
  metadata: { team },
});

/** A store that counts the statements over documents, and can act after one. */
async function setup(t: Cleanup) {
  const pawl = await open({ data: temporaryDirectory(t) });
  t.after(() => pawl.close());
  const ingest = async (...documents: readonly InlineDocument[]): Promise<unknown> =>
    (await pawl.ingest(documents, { corpus: place.corpus })).wait();
  await ingest(heron('ops'), { id: 'owl', text: 'The owl sleeps.', metadata: { team: 'dev' } });
  const seen = { filters: 0, afterFilter: async (): Promise<unknown> => undefined };
  const database: Database = Object.create(sessionOf(pawl).store);
  Object.assign(database, {
    early: database,
    flushed: () => sessionOf(pawl).store.flushed(),
    run: async (...asked: Parameters<Database['run']>) => {
      const rows = await sessionOf(pawl).store.run(...asked);
      if (asked[0].text.includes('documents.id AS document_id')) {
        seen.filters += 1;
        const { afterFilter } = seen;
        seen.afterFilter = async () => undefined;
        await afterFilter();
      }
      return rows;
    },
    now: () => sessionOf(pawl).store.now(),
    dialect: sessionOf(pawl).store.dialect,
  });
  const filterOf = (where: string) => {
    const filter = toPassageFilter({ where });
    assert.ok(filter);
    return { ...place, filter };
  };
  return { pawl, ingest, database, seen, filterOf };
}

test('a repeated filter is not read again, and a change reads only its document', async (t) => {
  const { ingest, database, seen, filterOf } = await setup(t);
  const cache = new FilterCache(database);
  const size = async () => (await cache.read(filterOf('team = "ops"'))).documents.size;
  assert.deepEqual([await size(), await size(), await size()], [1, 1, 1]);
  assert.equal(seen.filters, 1);
  await ingest({ id: 'crane', text: 'The crane dances.', metadata: { team: 'ops' } });
  assert.deepEqual([await size(), await size()], [2, 2]);
  assert.equal(seen.filters, 2);
});

test('searches at the same time share one read', async (t) => {
  const { database, seen, filterOf } = await setup(t);
  const cache = new FilterCache(database);
  const reads = Array.from({ length: 5 }, () => cache.read(filterOf('team = "ops"')));
  const sizes = (await Promise.all(reads)).map(({ documents }) => documents.size);
  assert.deepEqual(sizes, [1, 1, 1, 1, 1]);
  assert.equal(seen.filters, 1);
});

test('a refused condition is refused again, and leaves nothing behind', async (t) => {
  const { ingest, database, filterOf } = await setup(t);
  const cache = new FilterCache(database);
  for (let round = 0; round < 2; round += 1) {
    await assert.rejects(cache.read(filterOf('level = 1')), /no document of birds has/);
  }
  await ingest({ id: 'crane', text: 'The crane dances.', metadata: { level: 1 } });
  assert.equal((await cache.read(filterOf('level = 1'))).documents.size, 1);
});

test('a document whose metadata changes during a search is seen in one state', async (t) => {
  const { ingest, database, seen } = await setup(t);
  for (const mode of ['hybrid', 'vector', 'keyword'] as const) {
    await ingest(heron('ops'));
    const searcher = new Searcher({ database, embedder: staticEmbedder() });
    const search = (where: string) =>
      searcher.search({ ...place, query: 'heron', mode, filter: { where } });
    seen.afterFilter = () => ingest(heron('dev'));
    const hits = (await search('team = "ops"')).filter(({ metadata }) => metadata.team !== 'ops');
    assert.deepEqual(hits, [], mode);
    const sources = (await search('team = "dev"')).map(({ sourceUrl }) => sourceUrl);
    assert.ok(sources.includes('inline:heron'), mode);
  }
});

test('a filter over many documents yields to the event loop and finds all of them', async (t) => {
  const { pawl, database, filterOf } = await setup(t);
  const count = limits.search.matchedPageMax * 2 + 1;
  await sessionOf(pawl).store.write(async (transaction) => {
    for (let n = 0; n < count; n += 1) {
      const id = `many ${n}`;
      const rest = { title: null, language: null, chunk_count: 0, text_bytes: 0, kept_share: 1 };
      const row = { ...place, ...rest, id, source: id, generation_id: 1000 + n, content_hash: '' };
      await flip(transaction, { ...row, metadata: `{"number":${n},"team":"many"}` }, 1);
    }
  });
  for (const where of ['team = "many"', 'team != "ops" and team != "dev"']) {
    const turns = await turnsDuring(async () => {
      const { documents } = await new FilterCache(database).read(filterOf(where));
      assert.equal(documents.size, count, where);
    });
    assert.ok(turns >= 2, `${turns} turns for ${where}`);
  }
});
