import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { replaysOf, runBatch } from './batch.ts';
import { withServiceSlots } from './service-slots.ts';

const seed = firstSeed(import.meta.url);
const seeds = 15;
const seedsMax = 200;

test(`slots of services keep all promises, in ${seeds} seeds of faults`, async (context) => {
  let refused = 0;
  const plant = withServiceSlots(() => {
    refused += 1;
  });
  const more = { until: () => refused > 0, seedsMax };
  const batch = await runBatch({ firstSeed: seed, seeds, more, violationsMax: 5, plant });
  context.diagnostic(`${refused} times an item found no free slot`);
  assert.deepEqual(replaysOf(batch, 'services'), []);
  assert.ok(refused > 0, 'every item found a free slot');
});
