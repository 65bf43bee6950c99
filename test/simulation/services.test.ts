import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { replaysOf, runBatch } from './batch.ts';
import { seated } from './seated.ts';

const seed = firstSeed(import.meta.url);
const seeds = 15;
const seedsMax = 200;

test(`places of services keep all promises, in ${seeds} seeds of faults`, async (context) => {
  let benched = 0;
  const plant = seated(() => {
    benched += 1;
  });
  const more = { until: () => benched > 0, seedsMax };
  const batch = await runBatch({ firstSeed: seed, seeds, more, violationsMax: 5, plant });
  context.diagnostic(`${benched} times an item found no place`);
  assert.deepEqual(replaysOf(batch, 'services'), []);
  assert.ok(benched > 0, 'every item found a place');
});
