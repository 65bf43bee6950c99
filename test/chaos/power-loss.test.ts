import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { cutPower } from './power-loss.ts';

const seed = firstSeed(import.meta.url);

test('a power cut after an acknowledgement loses nothing in 60 states of the disk', async () => {
  const without = ['nothing', 'log', 'files', 'folders'] as const;
  const [whole, ...broken] = await cutPower({ jobs: 30, seed, without });
  assert.deepEqual(whole, { states: 60, lost: 0, unreadable: 0 });
  for (const [index, { lost, unreadable }] of broken.entries()) {
    const what = `flushes of ${without[index + 1]}`;
    assert.ok(lost + unreadable > 0, `without ${what} nothing would be lost: the test cannot fail`);
  }
});
