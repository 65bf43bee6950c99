import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { open, type Pawl, type SourceInput } from '../index.ts';

const corpus = 'manual';
const modes = ['keyword', 'vector', 'hybrid'] as const;

const section = (name: string, n: number): string =>
  `## ${name} ${n}\n\nThe ${name} of valve ${n} turns clockwise. ${'Oil it monthly. '.repeat(30)}`;
const sections = Array.from({ length: 8 }, (_, n) => section('valve handle', n));
const documents: readonly SourceInput[] = [
  { id: 'refunds', title: 'Refunds', text: 'Money is returned to customers in fourteen days.' },
  { id: 'health', title: 'Health', text: 'A physician examines all employees each year.' },
  { id: 'policy', title: 'Policy', text: 'The refund policy covers broken lamps only.' },
  { id: 'order', title: 'Order', text: 'A policy on the refund of travel costs is in draft.' },
  {
    id: 'valves',
    title: 'Valves',
    markdown: `# Valves\n\n${sections.join('\n\n')}`,
  },
  ...Array.from({ length: 12 }, (_, n) => ({
    id: `note ${n}`,
    title: `Note ${n}`,
    text: `Note number ${n} mentions a valve once, among ${n * 7} other things of plant ${n}.`,
    sourceUrl: `https://notes.example/plant-${n % 3}/note-${n}.html`,
  })),
];

describe('results', () => {
  const cleanups: (() => unknown)[] = [];
  const t = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) };
  let pawl: Pawl;
  before(async () => {
    pawl = await open({ data: temporaryDirectory(t) });
    t.after(() => pawl.close());
    await (await pawl.ingest(documents, { corpus })).wait();
  });
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });
  const titles = async (query: string, options: Parameters<Pawl['search']>[2] = {}) => {
    const hits = await pawl.search(corpus, query, options);
    return [...new Set(hits.map(({ title }) => title))].sort();
  };

  test('are none for words that occur nowhere, in every mode', async () => {
    for (const mode of modes) {
      for (const query of ['zzqqxx', 'zzzqqq xyzzy', '龘靐']) {
        assert.deepEqual(await pawl.search(corpus, query, { mode }), [], `${mode} ${query}`);
      }
    }
  });

  test('are marked as near if near ones are asked for', async () => {
    assert.deepEqual(await pawl.search(corpus, 'zzqqxx', { mode: 'keyword', near: true }), []);
    for (const mode of ['vector', 'hybrid'] as const) {
      const hits = await pawl.search(corpus, 'zzqqxx', { mode, near: true });
      assert.ok(hits.length > 0 && hits.every(({ near }) => near), mode);
    }
    const [hit] = await pawl.search(corpus, 'refund policy');
    assert.equal(hit?.near, false);
    const [related] = await pawl.search(corpus, 'doctor');
    assert.deepEqual([related?.title, related?.near], ['Health', true]);
  });

  test('of a hybrid search have a word of the query or are related to it', async () => {
    const found = await pawl.searchResponse(corpus, 'physician', { topK: 50 });
    assert.equal(found.results[0]?.title, 'Health');
    assert.equal(found.total, found.results.length);
    assert.ok(found.results.every(({ relevance }) => relevance > 0));
    const near = await pawl.searchResponse(corpus, 'physician', { topK: 50, near: true });
    assert.ok(near.total > found.total && near.results.at(-1)?.relevance === 0);
    const nearest = await pawl.searchResponse(corpus, 'physician', { topK: 50, mode: 'vector' });
    assert.equal(nearest.total, near.total, 'in the mode vector all are ranked');
    const weights = { keyword: 1, vector: 0, feedback: 0 };
    const worded = await pawl.searchResponse(corpus, 'physician', { weights, near: true });
    assert.deepEqual(
      [worded.total, worded.results[0]?.title, worded.results[0]?.near],
      [1, 'Health', false],
    );
  });

  test('have a relevance that compares queries, and a threshold for it', async () => {
    const best = async (query: string) => (await pawl.search(corpus, query))[0]?.relevance ?? 0;
    const exact = await best('refund policy');
    const partial = await best('refund policy of the zzqqxx gryphon');
    assert.ok(exact > 0.5 && exact <= 1, `${exact}`);
    assert.ok(partial > 0 && partial < exact * 0.8, `${partial} of ${exact}`);
    const all = await pawl.search(corpus, 'refund of travel costs', { topK: 50 });
    const some = await pawl.search(corpus, 'refund of travel costs', { topK: 50, minScore: 0.5 });
    assert.deepEqual(
      some.map(({ chunkId }) => chunkId),
      all.filter(({ relevance }) => relevance >= 0.5).map(({ chunkId }) => chunkId),
    );
    assert.ok(some.length > 0 && some.length < all.length);
  });

  test('have a correction for words that occur nowhere', async () => {
    const suggested = async (query: string) =>
      (await pawl.searchResponse(corpus, query)).didYouMean;
    assert.equal(await suggested('phisician'), 'physician');
    assert.match((await suggested('Refnud policy')) ?? '', /^refunds? policy$/);
    assert.equal(await suggested('refund policy'), null);
    assert.equal(await suggested('zzqqxx'), null);
  });

  test('have exact words, and not those that are excluded', async () => {
    for (const mode of modes) {
      const near = true;
      assert.deepEqual(await titles('"refund policy"', { mode, near }), ['Policy'], mode);
      assert.deepEqual(await titles('"Refund,  policy"', { mode, near }), ['Policy'], mode);
      assert.deepEqual(await titles('"policy refund"', { mode, near }), [], mode);
      const others = await titles('refund policy -lamp', { mode });
      assert.ok(others.includes('Order') && !others.includes('Policy'), mode);
    }
    assert.ok((await titles('refund policy -"broken lamps"')).includes('Order'));
    assert.ok(!(await titles('refund policy -"broken lamps"')).includes('Policy'));
  });

  test('are narrowed by the fields of a query', async () => {
    assert.deepEqual(await titles('title:order refund'), ['Order']);
    assert.deepEqual(await titles('url:note-7 valve'), ['Note 7']);
    assert.deepEqual(await titles('heading:"handle 3" valve'), ['Valves']);
    assert.equal((await titles('host:notes.example valve', { topK: 50 })).length, 12);
    assert.deepEqual(await titles('title:policy'), ['Policy']);
    await assert.rejects(titles('-title:order refund'), { code: 'bad_request' });
    await assert.rejects(titles('title:a title:b refund'), { code: 'bad_request' });
  });

  test('take operators as words where the request says so, and in prose', async () => {
    const plain = await titles('refund policy -lamp', { syntax: 'plain' });
    assert.ok(plain.includes('Policy'));
    const prose = `${'the refund is '.repeat(12)} called "policy refund" here -lamp`;
    assert.ok((await titles(prose)).includes('Policy'));
    assert.ok((await titles('valve -x and -5 degrees', { topK: 50 })).includes('Note 5'));
  });

  test('are spread over documents, and say how many more a document has', async () => {
    const spread = await pawl.search(corpus, 'valve');
    const of = (title: string) => spread.filter((hit) => hit.title === title);
    assert.equal(spread.length, 10);
    const shown = of('Valves').length;
    assert.ok(shown >= 1 && shown <= 3, `${shown} passages of one document`);
    assert.equal(of('Valves')[0]?.moreInDocument, 8 - shown);
    const raw = await pawl.search(corpus, 'valve', { group: false });
    assert.ok(raw.filter(({ title }) => title === 'Valves').length > 3);
    const grouped = await pawl.search(corpus, 'valve', { group: 'document', topK: 50 });
    const valves = grouped.find(({ title }) => title === 'Valves');
    assert.deepEqual([valves?.passages?.length, valves?.moreInDocument], [2, 5]);
    assert.equal(grouped.filter(({ title }) => title === 'Valves').length, 1);
  });

  test('are paged without gaps or repeats, with a total', async () => {
    const { total } = await pawl.searchResponse(corpus, 'valve', { mode: 'keyword' });
    assert.equal(total, 20);
    const all = await pawl.search(corpus, 'valve', { mode: 'keyword', topK: 20 });
    const pages: string[] = [];
    for (let offset = 0; offset < 20; offset += 5) {
      const page = await pawl.search(corpus, 'valve', { mode: 'keyword', topK: 5, offset });
      pages.push(...page.map(({ chunkId }) => chunkId));
    }
    assert.deepEqual(
      pages,
      all.map(({ chunkId }) => chunkId),
    );
    assert.equal(new Set(pages).size, 20);
  });

  test('are counted by facets, of all documents that match', async () => {
    const facets = ['host', 'folder', 'language', 'type', 'date'] as const;
    const found = await pawl.searchResponse(corpus, 'valve', { topK: 1, facets });
    assert.deepEqual(found.facets.host, [{ value: 'notes.example', count: 12 }]);
    assert.deepEqual(
      found.facets.folder?.map(({ count }) => count),
      [4, 4, 4],
    );
    // By month: the last one may have ended between two documents.
    const dated = ({ facets: { date = [] } }: typeof found) =>
      date.reduce((sum, { count }) => sum + count, 0);
    assert.equal(dated(found), 13);
    assert.equal(found.facets.language?.[0]?.value, 'en');
    const filter = { host: 'notes.example' };
    const narrowed = await pawl.searchResponse(corpus, 'valve', { facets, filter });
    assert.equal(dated(narrowed), 12);
  });

  test('follow the weights of a request', async () => {
    const explained = await pawl.search(corpus, 'refund policy', {
      weights: { keyword: 0, vector: 1, feedback: 0 },
      explain: true,
      near: true,
    });
    assert.deepEqual(explained[0]?.explanation?.weights, { keyword: 0, vector: 1 });
    const weights = { keyword: 0, vector: 0, feedback: 0 };
    await assert.rejects(pawl.search(corpus, 'refund', { weights }), { code: 'bad_request' });
    const mode = 'keyword';
    await assert.rejects(pawl.search(corpus, 'refund', { mode, weights: { vector: 1 } }), {
      code: 'bad_request',
    });
  });

  test('refuse a threshold, an offset or a facet that cannot be', async () => {
    for (const wrong of [{ minScore: 1.1 }, { offset: -1 }, { facets: ['size' as 'type'] }]) {
      await assert.rejects(pawl.search(corpus, 'refund', wrong), { code: 'bad_request' });
    }
  });

  test('have their source as it was given', async () => {
    const [hit] = await pawl.search(corpus, 'title:"note 7" valve');
    assert.equal(hit?.sourceUrl, 'https://notes.example/plant-1/note-7.html');
  });
});
