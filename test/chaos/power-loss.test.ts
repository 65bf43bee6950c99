import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutPower } from './power-loss.ts';

describe('a power cut right after an acknowledgement', () => {
  test('loses nothing in 120 states of the disk', async () => {
    const result = await cutPower({ jobs: 60, seed: 1, synchronous: 'FULL' });
    assert.deepEqual(result, { states: 120, lost: 0, unreadable: 0 });
  });

  test('would lose what was acknowledged if the store did not flush its log', async () => {
    const result = await cutPower({ jobs: 60, seed: 1, synchronous: 'NORMAL' });
    assert.ok(result.lost > 0, 'the test can fail');
  });

  for (const without of ['files', 'folders'] as const) {
    test(`would lose the bytes of uploads if ${without} of blobs were not flushed`, async () => {
      const result = await cutPower({ jobs: 20, seed: 1, synchronous: 'FULL', without });
      assert.ok(result.lost > 0, 'the test can fail');
    });
  }
});
