import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuse, partsOf, type RankedList } from './fusion.ts';

const row = (generation_id: number, score: number) => ({ generation_id, ordinal: 0, score });

test('lists are normalized, weighted and added, and each contribution is reported', () => {
  const lists: RankedList[] = [
    { name: 'keyword', weight: 0.7, rows: [row(1, 9), row(2, 5), row(3, 1)] },
    { name: 'vector', weight: 0.3, rows: [row(4, 0.8), row(2, 0.4)] },
  ];
  const fused = fuse(lists);
  assert.deepEqual(
    fused.map(({ generation_id, score }) => [generation_id, score]),
    [
      [1, 0.7],
      [2, 0.35],
      [4, 0.3],
      [3, 0],
    ],
  );
  assert.deepEqual(partsOf(lists, row(2, 0)), [
    { list: 'keyword', rank: 2, score: 5, scaled: 0.5, weight: 0.7 },
    { list: 'vector', rank: 2, score: 0.4, scaled: 0, weight: 0.3 },
  ]);
  assert.deepEqual(partsOf(lists, row(9, 0)), []);
});

test('equal scores all count as best, in chunk order', () => {
  const lists: RankedList[] = [{ name: 'vector', weight: 1, rows: [row(7, 2), row(3, 2)] }];
  const fused = fuse(lists);
  assert.deepEqual(
    fused.map(({ generation_id, score }) => [generation_id, score]),
    [
      [3, 1],
      [7, 1],
    ],
  );
});

test('a list with a range counts less if its best passage is far from the best possible', () => {
  const rows = [row(1, 4), row(2, 2)];
  const weak: RankedList = { name: 'keyword', weight: 1, rows, range: { lowest: 0, highest: 8 } };
  assert.deepEqual(
    fuse([weak]).map(({ score }) => score),
    [0.5, 0.25],
  );
  const cosines = [row(1, 0.6), row(2, 0.1)];
  const range = { lowest: 0.2, highest: 1 };
  const vector: RankedList = { name: 'vector', weight: 1, rows: cosines, range };
  assert.deepEqual(
    fuse([vector]).map(({ score }) => Math.round(score * 100) / 100),
    [0.5, 0],
  );
});
