/** An index that was saved and read again behaves as the one in memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WordPacker } from '../../pipeline/word/word-packer.ts';
import { Arena, toQuery } from '../vector/arena.ts';
import { Partition } from '../vector/partition.ts';
import { WordIndex } from '../word/word-index.ts';
import type { Saveable } from './saveable.ts';
import type { Source } from './saved-file.ts';

/** Fills the second index with what the first one has, by way of bytes. */
async function copy(from: Saveable, to: Saveable): Promise<void> {
  const bytes = Buffer.concat([...from.pieces()].map((piece) => Buffer.from(piece)));
  let at = 0;
  const source: Source = {
    fill: async (target) => {
      assert.ok(at + target.length <= bytes.length);
      target.set(bytes.subarray(at, at + target.length));
      at += target.length;
    },
  };
  await to.restore(source);
  assert.equal(at, bytes.length, 'all is read');
}

describe('the words of a corpus', () => {
  const packer = new WordPacker();
  const put = (index: WordIndex, n: number, generation = n) => {
    const rows = [0, 1].map((ordinal) => {
      return { ordinal, heading: '', text: `Lamp ${n} of part ${ordinal} is lit word${n % 700}.` };
    });
    index.put(`d${n}`, generation, packer.pack(`Title ${n}`, rows), n % 3 === 0 ? 'de' : 'en');
  };

  test('are the same after they were saved with holes, and change in the same way', async () => {
    const index = new WordIndex();
    // More documents than a piece has rows, and more postings of a term than a block has.
    for (let n = 1; n <= 8500; n++) put(index, n);
    for (let n = 5; n <= 900; n += 3) index.remove(`d${n}`);
    const copied = new WordIndex();
    await copy(index, copied);
    const all = (of: WordIndex) => {
      const terms = ['lamp', 'lit', 'word7', 'part'];
      const found = of.find({ terms, size: 50, required: ['word7'] });
      return { found, size: of.size, languages: of.languages, lit: of.chunksWith('lit') };
    };
    assert.deepEqual(all(copied), all(index));
    assert.deepEqual(copied.documentIds(), index.documentIds());
    for (const one of [index, copied]) {
      put(one, 7, 9000);
      put(one, 9001);
      // Enough to close the holes.
      for (let n = 1000; n <= 3500; n++) one.remove(`d${n}`);
    }
    assert.deepEqual(all(copied), all(index));
    assert.equal(copied.generationOf('d7'), 9000);
  });

  test('are empty after they were saved empty', async () => {
    const copied = new WordIndex();
    await copy(new WordIndex(), copied);
    put(copied, 1);
    assert.equal(copied.search({ terms: ['lamp'], size: 5 }).length, 2);
  });
});

describe('the vectors of a corpus', () => {
  for (const dimensions of [256, 100]) {
    test(`of ${dimensions} dimensions are the same after they were saved with holes`, async () => {
      let state = 42;
      const random = () => {
        state = (Math.imul(state, 1664525) + 1013904223) | 0;
        return state >> 24;
      };
      const vector = () => Int8Array.from({ length: dimensions }, random);
      const vectors = (count: number) => {
        const bytes = Buffer.concat(Array.from({ length: count }, () => Buffer.from(vector())));
        return { ordinals: Array.from({ length: count }, (_, ordinal) => ordinal), bytes };
      };
      const arena = new Arena();
      const partition = new Partition(arena, dimensions);
      for (let n = 1; n <= 400; n++) partition.put(`d${n}`, n, vectors(20));
      for (let n = 10; n <= 60; n++) partition.remove(`d${n}`);
      const copied = new Partition(arena, dimensions);
      await copy(partition, copied);
      const queries = Array.from({ length: 5 }, vector);
      const all = (of: Partition) => queries.map((query) => of.search(toQuery(query), 50));
      assert.deepEqual(all(copied), all(partition));
      assert.equal(copied.size, partition.size);
      const more = vectors(20);
      for (const one of [partition, copied]) {
        one.put('d7', 500, more);
        one.put('new', 501, more);
        for (let n = 100; n <= 250; n++) one.remove(`d${n}`);
      }
      assert.deepEqual(all(copied), all(partition));
      assert.deepEqual(copied.documentIds().sort(), partition.documentIds().sort());
    });
  }
});
