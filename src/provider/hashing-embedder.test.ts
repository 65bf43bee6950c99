import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashingEmbedder, vectorOf } from './hashing-embedder.ts';

const signed = (vector: Uint8Array): number[] => [...new Int8Array(vector.buffer)];

function similarity(first: string, second: string): number {
  const [one, two] = [signed(vectorOf(first)), signed(vectorOf(second))];
  return one.reduce((sum, value, index) => sum + value * (two[index] ?? 0), 0) / 127 ** 2;
}

test('every vector has unit length, within the rounding to bytes', () => {
  for (const text of ['walrus', 'The walrus sleeps in the sun.', 'Ж 漢字 42', 'x '.repeat(5000)]) {
    const length = Math.hypot(...signed(vectorOf(text))) / 127;
    assert.ok(Math.abs(length - 1) < 0.05, `${text.slice(0, 20)}: ${length}`);
  }
});

test('a text without words has the zero vector', () => {
  assert.ok(signed(vectorOf('--- !')).every((value) => value === 0));
});

test('the same words give the same vector, and like words are nearer than others', () => {
  assert.deepEqual(vectorOf('The Walrus'), vectorOf('the walrus!'));
  assert.ok(similarity('walrus', 'walruses') > similarity('walrus', 'lantern') + 0.2);
});

test('every text of a batch gets its vector, at no cost', async () => {
  const texts = ['a', 'b', 'c'];
  const { vectors, ...rest } = await hashingEmbedder.embed(texts, new AbortController().signal);
  assert.deepEqual(vectors, texts.map(vectorOf));
  assert.deepEqual(rest, { tokensIn: 0, costCents: 0 });
});
