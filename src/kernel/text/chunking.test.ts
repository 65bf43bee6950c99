import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../failure/failure.ts';
import { changedChunking, defaultChunking, readChunking, storedChunking } from './chunking.ts';

test('the default is stored as null, and every other value as text', () => {
  assert.equal(storedChunking(defaultChunking), null);
  assert.deepEqual(readChunking(null), defaultChunking);
  const own = { tokensMax: 400, overlapTokens: 0 };
  assert.deepEqual(readChunking(storedChunking(own)), own);
  assert.equal(storedChunking({ ...defaultChunking, overlapTokens: 0 }), '256/0');
});

test('a change keeps what it does not name, and null is the default', () => {
  const now = { tokensMax: 400, overlapTokens: 50 };
  assert.deepEqual(changedChunking(now, {}), now);
  assert.deepEqual(changedChunking(now, { tokensMax: 500 }), { ...now, tokensMax: 500 });
  assert.deepEqual(changedChunking(now, { overlapTokens: 0 }), { ...now, overlapTokens: 0 });
  const reset = { tokensMax: null, overlapTokens: null };
  assert.deepEqual(changedChunking(now, reset), defaultChunking);
});

test('an overlap that was not asked for stays below half of a chunk', () => {
  const smaller = changedChunking({ tokensMax: 400, overlapTokens: 150 }, { tokensMax: 100 });
  assert.deepEqual(smaller, { tokensMax: 100, overlapTokens: 49 });
});

for (const [what, change] of [
  ['chunks that are too small', { tokensMax: 31 }],
  ['chunks that are too large', { tokensMax: 2049 }],
  ['half tokens', { tokensMax: 99.5 }],
  ['a negative overlap', { overlapTokens: -1 }],
  ['an overlap of half a chunk', { tokensMax: 100, overlapTokens: 50 }],
  ['values that are no numbers', { tokensMax: Number.NaN }],
] as const) {
  test(`${what} are refused`, () => {
    assert.throws(() => changedChunking(defaultChunking, change), Failure);
  });
}
