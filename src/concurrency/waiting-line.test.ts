import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WaitingLine } from './waiting-line.ts';

function lineOf(...lengths: number[]): WaitingLine<{ length: number }> {
  const line = new WaitingLine<{ length: number }>();
  for (const length of lengths) line.add({ length });
  return line;
}

describe('a waiting line', () => {
  test('serves the shortest first, and the oldest every few turns', () => {
    const line = lineOf(9, 8, 2, 1, 3, 7);
    const taken = Array.from({ length: 6 }, () => line.take()?.length);
    assert.deepEqual(taken, [1, 2, 3, 9, 7, 8]);
    assert.equal(line.take(), undefined);
  });

  test('keeps the order of equal lengths', () => {
    const line = new WaitingLine<{ length: number; name: string }>();
    for (const name of ['a', 'b', 'c', 'd', 'e']) line.add({ length: 1, name });
    const taken = Array.from({ length: 5 }, () => line.take()?.name);
    assert.deepEqual(taken, ['a', 'b', 'c', 'd', 'e']);
  });

  test('serves a long entry, however many short ones arrive', () => {
    const line = lineOf(100);
    for (let turn = 0; turn < 4; turn += 1) {
      line.add({ length: 1 });
      line.add({ length: 1 });
      if (line.take()?.length === 100) return;
    }
    assert.fail('the long entry is never served');
  });

  test('forgets an entry that leaves', () => {
    const line = lineOf(5);
    const one = { length: 1 };
    line.add(one);
    line.delete(one);
    assert.deepEqual(line.clear(), [{ length: 5 }]);
    assert.equal(line.size, 0);
  });
});
