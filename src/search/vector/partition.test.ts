import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Arena, toQuery } from './arena.ts';
import { Partition, type PlaceFilter, type Vectors } from './partition.ts';

function setup(options: { simd?: boolean; dimensions?: number } = {}) {
  const { simd = true, dimensions = 256 } = options;
  let state = 42;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state >> 24;
  };
  const vector = () => Int8Array.from({ length: dimensions }, random);
  const rows = (count: number): Row[] =>
    Array.from({ length: count }, (_, ordinal) => ({ ordinal, vector: vector() }));
  const arena = new Arena({ simd });
  return { arena, partition: new Partition(arena, dimensions), vector, rows };
}

interface Row {
  readonly ordinal: number;
  readonly vector: Int8Array;
}

function joined(rows: readonly Row[]): Vectors {
  const bytes = Buffer.concat(rows.map(({ vector }) => new Uint8Array(vector.buffer)));
  return { ordinals: rows.map(({ ordinal }) => ordinal), bytes };
}

function onlyOf(...ids: readonly string[]): PlaceFilter {
  const documents = new Set(ids);
  return { documents, isAllowed: ({ documentId }) => documents.has(documentId) };
}

function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
    Array.from(a).reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
}

describe('a partition', () => {
  for (const dimensions of [256, 100, 1536]) {
    test(`finds the nearest of ${dimensions} dimensions exactly, with SIMD and without`, () => {
      const [fast, plain] = [true, false].map((simd) => {
        const { arena, partition, vector, rows } = setup({ simd, dimensions });
        const stored = rows(700);
        partition.put('a', 1, joined(stored.slice(0, 300)));
        partition.put('b', 2, joined(stored.slice(300)));
        const query = vector();
        return { arena, stored, query, hits: partition.search(toQuery(query), 20) };
      });
      assert.equal(fast?.arena.isSimd, true);
      assert.equal(plain?.arena.isSimd, false);
      assert.deepEqual(fast?.hits, plain?.hits);
      const exact = (fast?.stored ?? [])
        .map(({ vector }) => cosine(fast?.query ?? [], vector))
        .sort((a, b) => b - a)
        .slice(0, 20);
      fast?.hits.forEach(({ score }, index) => {
        assert.ok(Math.abs(score - (exact[index] ?? 0)) < 1e-6);
      });
    });
  }

  test('drops removed and replaced vectors, and compacts', () => {
    const { arena, partition, rows, vector } = setup();
    for (let id = 1; id <= 50; id++) partition.put(`d${id}`, id, joined(rows(100)));
    const held = arena.heldBytes;
    for (let id = 1; id <= 200; id++)
      partition.put(`d${(id % 50) + 1}`, 1000 + id, joined(rows(100)));
    for (let id = 1; id <= 45; id++) partition.remove(`d${id}`);
    assert.equal(partition.size, 500);
    assert.ok(arena.heldBytes <= held * 2, 'memory is used again');
    const hits = partition.search(toQuery(vector()), 1000);
    assert.equal(hits.length, 500);
    const documents = new Set(hits.map(({ documentId }) => documentId));
    assert.deepEqual([...documents].sort(), ['d46', 'd47', 'd48', 'd49', 'd50']);
    assert.equal(new Set(hits.map((hit) => `${hit.generationId}/${hit.ordinal}`)).size, 500);
  });

  test('orders equal vectors by chunk', () => {
    const { partition, rows } = setup();
    const [row] = rows(1);
    const same = (ordinal: number) => ({ ordinal, vector: row?.vector ?? new Int8Array() });
    partition.put('late', 9, joined([same(0), same(1)]));
    partition.put('early', 3, joined([same(0), same(1)]));
    const hits = partition.search(toQuery(row?.vector ?? []), 3);
    assert.deepEqual(
      hits.map(({ generationId, ordinal }) => [generationId, ordinal]),
      [
        [3, 0],
        [3, 1],
        [9, 0],
      ],
    );
  });

  test('finds the same with a filter for few documents as with a look at each', () => {
    const { partition, rows, vector } = setup();
    for (let id = 1; id <= 40; id++) partition.put(`d${id}`, id, joined(rows(37)));
    partition.remove('d7');
    const query = toQuery(vector());
    const all = partition.search(query, 40 * 37);
    for (const ids of [['d3'], ['d3', 'd7', 'd39', 'unknown'], all.map((hit) => hit.documentId)]) {
      const expected = all.filter(({ documentId }) => ids.includes(documentId)).slice(0, 50);
      assert.deepEqual(partition.search(query, 50, onlyOf(...ids)), expected);
    }
  });

  test('skips what is not allowed, and refuses vectors of another length', () => {
    const { partition, rows, vector } = setup();
    partition.put('a', 1, joined(rows(10)));
    partition.put('b', 2, joined(rows(10)));
    const long = { ordinal: 0, vector: new Int8Array(999) };
    assert.throws(() => partition.put('c', 3, joined([long])), /whole vectors/);
    const hits = partition.search(toQuery(vector()), 100, onlyOf('b'));
    assert.equal(hits.length, 10);
    assert.ok(hits.every(({ documentId }) => documentId === 'b'));
  });
});
