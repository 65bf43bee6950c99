import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBatch } from './batch.ts';
import { plantedDefects } from './planted.ts';

/**
 * Fixed seeds, from 1 or from one that is known to find the defect: other seeds would only change
 * how long that takes.
 */
const seedsMax = 2_000;

describe('the simulation finds planted defects', () => {
  for (const { name, startSeed: firstSeed = 1, matches, ...planted } of plantedDefects()) {
    test(`without ${name}`, async (context) => {
      const batch = await runBatch({ ...planted, firstSeed, seeds: seedsMax, violationsMax: 1 });
      assert.notEqual(matches?.(), 0, 'the rewrite matched nothing');
      const [found] = batch.failed;
      assert.ok(found, `${batch.seedsRun} seeds, and nothing was found`);
      const [violation] = found.violations;
      context.diagnostic(`seed ${found.seed}: ${violation?.invariant}: ${violation?.detail}`);
    });
  }
});
