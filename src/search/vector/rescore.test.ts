import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromSignedBytes, toSignedBytes } from '../../provider/embedding/vector-bytes.ts';
import { rescore } from './rescore.ts';

const hit = (ordinal: number, score: number) => ({
  documentId: 'd',
  generationId: 1,
  ordinal,
  score,
});

test('vectors that are equal in their high bytes are put in exact order', () => {
  const query = fromSignedBytes(toSignedBytes([1, 0.5, 0.25]));
  const stored = [
    [1, 0.5012, 0.25],
    [1, 0.5, 0.2503],
    [1, 0.5001, 0.25],
  ].map(toSignedBytes);
  const rough = stored.map((bytes) => [...new Int8Array(bytes.buffer, 0, 3)].join());
  assert.equal(new Set(rough).size, 1);
  const hits = rescore([hit(0, 1), hit(1, 1), hit(2, 1)], query, ({ ordinal }) => stored[ordinal]);
  assert.deepEqual(
    hits.map(({ ordinal }) => ordinal),
    [2, 1, 0],
  );
  assert.ok(hits.every(({ score }) => score < 1 && score > 0.999));
});

test('a vector that is gone, or stored with high bytes only, keeps its score', () => {
  const query = fromSignedBytes(toSignedBytes([1, 0]));
  const stored = [undefined, new Uint8Array([127, 0]), toSignedBytes([0, 1])];
  const hits = rescore(
    [hit(0, 0.9), hit(1, 0.8), hit(2, 0.99)],
    query,
    ({ ordinal }) => stored[ordinal],
  );
  assert.deepEqual(
    hits.map(({ ordinal, score }) => [ordinal, score]),
    [
      [0, 0.9],
      [1, 0.8],
      [2, 0],
    ],
  );
});
