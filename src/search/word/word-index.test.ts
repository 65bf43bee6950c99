import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isStopWord, termOf, wordsOf } from '../../pipeline/word/terms.ts';
import { WordPacker, type WordRow } from '../../pipeline/word/word-packer.ts';
import { Postings } from './postings.ts';
import { WordIndex } from './word-index.ts';

const seed = 17;

function setup() {
  const index = new WordIndex();
  const packer = new WordPacker();
  const put = (id: string, generationId: number, texts: readonly string[], title = '') => {
    const rows: WordRow[] = texts.map((text, ordinal) => ({ ordinal, heading: '', text }));
    index.put(id, generationId, packer.pack(title, rows));
  };
  const search = (query: string, size = 10) =>
    index
      .search({ terms: wordsOf(query).map(termOf), size })
      .map(({ documentId, ordinal }) => `${documentId}/${ordinal}`);
  return { index, packer, put, search };
}

/** Textbook BM25. */
function scoresOf(texts: readonly string[], terms: readonly string[]): number[] {
  const words = texts.map((text) => wordsOf(text));
  const mean = words.reduce((sum, { length }) => sum + length, 0) / words.length;
  const countIn = (all: readonly string[], term: string) =>
    all.filter((word) => !isStopWord(word) && termOf(word) === term).length;
  return words.map((all) => {
    let score = 0;
    for (const term of new Set(terms)) {
      const count = countIn(all, term);
      const found = words.filter((other) => countIn(other, term) > 0).length;
      const rarity = Math.log1p((texts.length - found + 0.5) / (found + 0.5));
      const damping = 1.2 * (0.25 + (0.75 * all.length) / mean);
      score += (rarity * count * 2.2) / (count + damping);
    }
    return score;
  });
}

describe('the words of a corpus', () => {
  test('find their chunks, by stems and without accents', () => {
    const { put, search } = setup();
    put('a', 1, ['Invoices are paid at once.', 'The café serves coffee.']);
    put('b', 2, ['Nothing of that kind.']);
    assert.deepEqual(search('invoice'), ['a/0']);
    assert.deepEqual(search('CAFE'), ['a/1']);
    assert.deepEqual(search('Café'), ['a/1']);
    assert.deepEqual(search('zebra'), []);
  });

  test('a chunk counts more in a document that is about the same', () => {
    const { put, search } = setup();
    put('passing', 1, ['The harbour was closed.', 'Apples grow slowly.', 'Pears grow well.']);
    put('about', 2, ['Ships wait at night.', 'The harbour was opened.', 'A harbour has cranes.']);
    assert.deepEqual(search('harbour').toSorted(), ['about/1', 'about/2', 'passing/0']);
    assert.equal(search('harbour').at(-1), 'passing/0');
  });

  test('a term counts by its weight', () => {
    const { index, put } = setup();
    put('a', 1, ['a lemon here']);
    put('b', 2, ['a melon here']);
    const terms = ['lemon', 'melon'].map(termOf);
    const firstWith = (weights?: number[]) => index.search({ terms, weights, size: 1 })[0];
    assert.equal(firstWith()?.documentId, 'a');
    assert.equal(firstWith([0.5, 1])?.documentId, 'b');
  });

  test('count more in a title than in a heading, and more there than in the text', () => {
    const { index, packer, search } = setup();
    const row = { ordinal: 0, heading: 'other words', text: 'other words' };
    index.put('text', 1, packer.pack('other', [{ ...row, text: 'lemon words' }]));
    index.put('head', 2, packer.pack('other', [{ ...row, heading: 'lemon words' }]));
    index.put('title', 3, packer.pack('lemon', [row]));
    assert.deepEqual(search('lemon'), ['title/0', 'head/0', 'text/0']);
  });

  test('are scored by BM25 for random texts', () => {
    const word = fc.constantFrom(
      ...'the red green blue apples apple pear is running runs x1'.split(' '),
    );
    const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 30 }),
        fc.array(word),
        (texts, asked) => {
          const { index, put } = setup();
          for (const [place, one] of texts.entries()) put(`d${place}`, place + 1, [one]);
          const terms = asked.filter((one) => !isStopWord(one)).map(termOf);
          const exact = scoresOf(texts, terms);
          const hits = index.search({ terms, size: 100 });
          assert.equal(hits.length, exact.filter((score) => score > 0).length);
          for (const { generationId, score } of hits) {
            assert.ok(Math.abs(score - (exact[generationId - 1] ?? 0)) < 1e-4);
          }
          const order = hits.map(({ score }) => score);
          assert.deepEqual(
            order,
            order.toSorted((a, b) => b - a),
          );
        },
      ),
      { numRuns: 200, seed },
    );
  });

  test('are found the same by an index of the query terms alone', () => {
    const word = fc.integer({ min: 0, max: 60 }).map((number) => `word${number}`);
    const text = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '));
    const packer = new WordPacker();
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 30 }),
        fc.array(word),
        (texts, asked) => {
          const [whole, some] = [new WordIndex(), new WordIndex(asked)];
          for (const [place, one] of texts.entries()) {
            const packed = packer.pack('', [{ ordinal: 0, heading: '', text: one }]);
            for (const index of [whole, some]) index.put(`d${place}`, place + 1, packed);
          }
          const [all, found] = [whole, some].map((index) => ({
            hits: index.search({ terms: asked, size: 100 }),
            counts: asked.map((term) => index.chunksWith(term)),
          }));
          assert.deepEqual(found, all);
        },
      ),
      { numRuns: 200, seed },
    );
  });

  test('are gone with their document, and compaction changes nothing', () => {
    const { index, put, search } = setup();
    const texts = (n: number) => [`number ${n} of many`, `lamp${n % 7} shines`];
    for (let n = 0; n < 900; n++) put(`d${n}`, n + 1, texts(n));
    put('d5', 2000, ['replaced by a walrus']);
    assert.deepEqual(search('walrus'), ['d5/0']);
    for (let n = 100; n < 900; n++) index.remove(`d${n}`);
    const fresh = setup();
    for (let n = 0; n < 100; n++) if (n !== 5) fresh.put(`d${n}`, n + 1, texts(n));
    fresh.put('d5', 2000, ['replaced by a walrus']);
    assert.equal(index.size, fresh.index.size);
    for (const query of ['walrus', 'lamp3', 'many numbers', 'lamp6 many']) {
      assert.deepEqual(search(query, 50), fresh.search(query, 50));
    }
  });

  test('of equal chunks the older come first, and only allowed ones are found', () => {
    const { index, put, search } = setup();
    put('late', 9, ['same words', 'same words']);
    put('early', 3, ['same words', 'same words']);
    assert.deepEqual(search('words', 3), ['early/0', 'early/1', 'late/0']);
    const allowed = {
      documents: new Map([['late', 1]]),
      isAllowed: ({ documentId }: { documentId: string }) => documentId === 'late',
    };
    const hits = index.search({ terms: [termOf('words')], size: 9, allowed });
    assert.deepEqual(new Set(hits.map(({ documentId }) => documentId)), new Set(['late']));
  });
});

test('a filter for few documents finds the same as a look at each', () => {
  const { index, put } = setup();
  for (let n = 0; n < 60; n++) put(`d${n}`, n + 1, [`lamp of ${n % 7}`, `a lamp and a lamp${n}`]);
  index.remove('d9');
  const terms = [termOf('lamp')];
  const all = index.search({ terms, size: 200 });
  for (const ids of [['d5'], ['d5', 'd9', 'd50'], all.map(({ documentId }) => documentId)]) {
    const documents = new Set(ids);
    const isAllowed = ({ documentId }: { documentId: string }) => documents.has(documentId);
    const expected = all.filter(isAllowed).slice(0, 20);
    const allowed = { documents, isAllowed };
    assert.deepEqual(index.search({ terms, size: 20, allowed }), expected);
  }
});

test('postings come back in the order they were added, however many', () => {
  const postings = new Postings();
  const counts = [1, 3, 4, 10, 5000, 100_000];
  for (let value = 0; value < 100_000; value++) {
    counts.forEach((count, term) => {
      if (value < count) postings.add(term * 1000, value * 2);
    });
  }
  counts.forEach((count, term) => {
    const read: number[] = [];
    postings.read(term * 1000, (page, start, end) => {
      for (let place = start; place < end; place++) read.push(page[place] ?? -1);
    });
    assert.equal(read.length, count);
    assert.ok(read.every((value, place) => value === place * 2));
    assert.equal(postings.countOf(term * 1000), count);
  });
  assert.equal(postings.countOf(999_999), 0);
});
