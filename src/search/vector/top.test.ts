import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Top } from './top.ts';

const seed = 31;

test('the best are kept, and of equal ones the earlier', () => {
  const score = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true }));
  fc.assert(
    fc.property(fc.array(score, { maxLength: 80 }), fc.nat(12), (scores, size) => {
      const top = new Top(size, (slot, other) => slot > other);
      const order = scores.map((_, slot) => slot).sort((a, b) => (a % 7) - (b % 7) || a - b);
      for (const slot of order) {
        const one = scores[slot] as number;
        if (one >= top.threshold) top.offer(slot, one);
      }
      const all = scores.map((one, slot) => ({ slot, score: one }));
      const expected = all.sort((a, b) => b.score - a.score || a.slot - b.slot).slice(0, size);
      assert.deepEqual(
        top.sorted().map(({ slot }) => slot),
        expected.map(({ slot }) => slot),
      );
    }),
    { numRuns: 1000, seed },
  );
});
