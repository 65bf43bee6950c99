import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutPower } from './power-loss.ts';

describe('a power cut right after an acknowledgement', () => {
  test('loses nothing in 120 states of the disk', async () => {
    const result = await cutPower({ jobs: 60, seed: 1, isFlushed: true });
    assert.deepEqual(result, { states: 120, lost: 0, unreadable: 0 });
  });

  test('would lose what was acknowledged if the store did not flush its log', async () => {
    const result = await cutPower({ jobs: 60, seed: 1, isFlushed: false });
    assert.ok(result.lost > 0, 'the test can fail');
  });
});
