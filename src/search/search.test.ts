import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Cleanup, temporaryDirectory } from '../../test/support/temporary.ts';
import { realWorld } from '../app/world.ts';
import { open, type SourceInput } from '../index.ts';
import { staticEmbedder } from '../provider/embedding/static-embedder.ts';
import { openSqlite } from '../store/driver/sqlite.ts';
import { defaultWeights } from './rank.ts';
import { Searcher } from './search.ts';

const corpus = 'handbook';
const documents: readonly SourceInput[] = [
  {
    id: 'refunds',
    title: 'Refunds',
    markdown: '# Refunds\n\n## Time\n\nMoney is returned to customers within fourteen days.',
  },
  { id: 'travel', title: 'Travel', text: 'Flights and hotels are booked by the office.' },
  { id: 'copy', title: 'Travel again', text: 'Flights and hotels are booked by the office!' },
  { id: 'health', title: 'Health', text: 'A physician examines all employees each year.' },
];

async function setup(t: Cleanup) {
  const data = temporaryDirectory(t);
  const pawl = await open({ data });
  t.after(() => pawl.close());
  const ingest = async (inputs: readonly SourceInput[]) =>
    (await pawl.ingest(inputs, { corpus })).wait();
  await ingest(documents);
  return { data, pawl, ingest };
}

describe('search', () => {
  test('finds other forms of a word, and marks them', async (t) => {
    const { pawl } = await setup(t);
    const [hit] = await pawl.search(corpus, 'return to the customer', { mode: 'keyword' });
    assert.equal(hit?.title, 'Refunds');
    assert.equal(hit?.heading, 'Refunds > Time');
    const marked = hit?.highlights.map(({ start, end }) => hit.text.slice(start, end));
    assert.deepEqual(marked, ['returned', 'customers']);
  });

  test('gives the slide on which a passage begins, or null if there are none', async (t) => {
    const { pawl, ingest } = await setup(t);
    const samples = new URL('../../test/samples/format/', import.meta.url);
    await ingest([fileURLToPath(new URL('plain-talk.pptx', samples))]);
    const pageOf = async (query: string) => {
      return (await pawl.search(corpus, query, { mode: 'keyword' }))[0]?.page;
    };
    assert.deepEqual([await pageOf('timetable heron'), await pageOf('physician')], [2, null]);
  });

  test('finds related words by their vectors', async (t) => {
    const { pawl } = await setup(t);
    assert.equal((await pawl.search(corpus, 'doctor', { mode: 'keyword' })).length, 0);
    const [hit] = await pawl.search(corpus, 'doctor', { mode: 'vector' });
    assert.equal(hit?.title, 'Health');
    assert.equal((await pawl.search(corpus, 'doctor'))[0]?.title, 'Health');
  });

  test('folds passages that say the same into one', async (t) => {
    const { pawl } = await setup(t);
    const hits = await pawl.search(corpus, 'hotel booking', { mode: 'keyword' });
    assert.equal(hits.length, 1);
    assert.equal(hits[0]?.similar, 1);
  });

  test('respects the filter in every mode', async (t) => {
    const { pawl } = await setup(t);
    for (const mode of ['hybrid', 'vector', 'keyword'] as const) {
      const filter = { title: 'AGAIN' };
      const hits = await pawl.search(corpus, 'flights and hotels', { mode, filter });
      assert.deepEqual(
        hits.map(({ title }) => title),
        ['Travel again'],
      );
      const documentId = hits[0]?.documentId;
      const same = await pawl.search(corpus, 'flights', { mode, filter: { documentId } });
      assert.equal(same[0]?.documentId, documentId);
      assert.deepEqual(await pawl.search(corpus, 'flights', { mode, filter: { title: '%' } }), []);
    }
    const inTime = await pawl.search(corpus, 'money', { filter: { heading: 'time' } });
    assert.deepEqual(
      inTime.map(({ title }) => title),
      ['Refunds'],
    );
  });

  test('explains the contribution of each list to a hit', async (t) => {
    const { pawl } = await setup(t);
    const [hit] = await pawl.search(corpus, 'money returned', { explain: true });
    const { parts = [], terms, weights = {} } = hit?.explanation ?? {};
    assert.deepEqual(terms, ['monei', 'return']);
    const sum = parts.reduce((total, { scaled, weight }) => total + scaled * weight, 0);
    assert.ok(Math.abs(sum - (hit?.score ?? 0)) < 1e-9);
    assert.deepEqual(Object.keys(weights).sort(), ['keyword', 'vector']);
  });

  test('weighs its lists as the model says, and as the request says before that', async (t) => {
    const { data, pawl } = await setup(t);
    const texts = Array.from({ length: 12 }, (_, n) => ({
      id: `n${n}`,
      text: `Lamp ${n} is lit.`,
    }));
    await (await pawl.ingest(texts, { corpus })).wait();
    await pawl.close();
    const database = openSqlite({ path: join(data, 'pawl.db'), world: realWorld() });
    t.after(() => database.close());
    const hybridWeights = { keyword: 0.2, vector: 0.4, feedback: 0.4 };
    const embedder = { ...staticEmbedder(), hybridWeights };
    const search = async (options: { weights?: { keyword: number } } = {}) => {
      const searcher = new Searcher({ database, embedder });
      const request = { caller: 'local', corpus, query: 'lamp lit', explain: true, ...options };
      return (await searcher.search(request))[0]?.explanation?.weights;
    };
    assert.deepEqual(await search(), hybridWeights);
    const weights = { keyword: 0.9 };
    assert.deepEqual(await search({ weights }), { ...hybridWeights, ...weights });
    const own = await new Searcher({ database, embedder: staticEmbedder() }).search({
      caller: 'local',
      corpus,
      query: 'lamp lit',
      explain: true,
    });
    assert.deepEqual(own[0]?.explanation?.weights, defaultWeights);
  });

  test('returns the same result each time, also for stop words alone', async (t) => {
    const { pawl } = await setup(t);
    const once = await pawl.search(corpus, 'flights for the employees');
    assert.deepEqual(await pawl.search(corpus, 'flights for the employees'), once);
    assert.ok((await pawl.search(corpus, 'by the', { mode: 'keyword' })).length > 0);
    assert.deepEqual(await pawl.search(corpus, '" * (-)'), []);
  });

  test('refuses invalid requests', async (t) => {
    const { pawl } = await setup(t);
    await assert.rejects(pawl.search('nowhere', 'flights'), { code: 'corpus_unknown' });
    await assert.rejects(pawl.search(corpus, 'x'.repeat(2001)), { code: 'bad_request' });
    await assert.rejects(pawl.search(corpus, 'flights', { topK: 0 }), { code: 'bad_request' });
  });
});

describe('vectors in memory', () => {
  test('follow documents that are replaced, added and deleted', async (t) => {
    const { pawl, ingest } = await setup(t);
    const titles = async (query: string) => {
      const hits = await pawl.search(corpus, query, { mode: 'vector', topK: 100, near: true });
      return [...new Set(hits.map(({ title }) => title))].sort();
    };
    assert.deepEqual(await titles('doctor'), ['Health', 'Refunds', 'Travel']);
    await ingest([{ id: 'health', title: 'Wealth', text: 'Savings are invested in bonds.' }]);
    await ingest([{ id: 'garden', title: 'Garden', text: 'Roses are cut in autumn.' }]);
    assert.deepEqual(await titles('doctor'), ['Garden', 'Refunds', 'Travel', 'Wealth']);
    const [garden] = await pawl.search(corpus, 'roses', { mode: 'vector' });
    await pawl.deleteDocument(garden?.documentId ?? '');
    assert.deepEqual(await titles('roses'), ['Refunds', 'Travel', 'Wealth']);
  });

  test('equal those of a freshly filled mirror', async (t) => {
    const { data, pawl, ingest } = await setup(t);
    const search = () => pawl.search(corpus, 'hotel', { mode: 'vector', topK: 100 });
    await search();
    for (let round = 0; round < 5; round++) {
      const some = Array.from({ length: 40 }, (_, index) => ({
        id: `d${index}`,
        text: `Hotel ${index * 7} in round ${round} has ${(index * 13) % 11} rooms.`,
      }));
      await ingest(some);
      await search();
    }
    const before = await search();
    const other = await open({ data, work: false });
    t.after(() => other.close());
    assert.deepEqual(await other.search(corpus, 'hotel', { mode: 'vector', topK: 100 }), before);
  });
});
