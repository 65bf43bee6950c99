import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromSignedBytes, toSignedBytes } from './vector-bytes.ts';

test('a stored vector keeps its values to one part in sixty thousand of the largest', () => {
  let state = 5;
  for (let round = 0; round < 200; round++) {
    const vector = Float64Array.from({ length: 256 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      return state / 2 ** 31;
    });
    const largest = Math.max(...vector.map(Math.abs));
    const words = fromSignedBytes(toSignedBytes(vector));
    words.forEach((word, place) => {
      const value = (word / 32_639) * largest;
      assert.ok(Math.abs(value - (vector[place] ?? 0)) <= largest / 65_000);
    });
  }
});

test('the first half of a stored vector is the coarse vector', () => {
  const bytes = toSignedBytes([1, -1, 0.5, 0, -0.25]);
  assert.deepEqual([...new Int8Array(bytes.buffer, 0, 5)], [127, -127, 64, 0, -32]);
  assert.deepEqual([...fromSignedBytes(toSignedBytes([0, 0]))], [0, 0]);
});
