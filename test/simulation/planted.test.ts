import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBatch } from './batch.ts';
import { plantedDefects } from './planted.ts';

/**
 * Fixed seeds from 1: this checks whether a known defect is found, and other seeds would only
 * change how long that takes.
 */
const firstSeed = 1;
const seedsMax = 2_000;

describe('the simulation finds planted defects', () => {
  for (const { name, plant, isCheap, isDeadly, matches } of plantedDefects()) {
    test(`without ${name}`, async (context) => {
      const run = { firstSeed, seeds: seedsMax, violationsMax: 1 };
      const batch = await runBatch({ ...run, plant, isCheap, isDeadly });
      assert.notEqual(matches?.(), 0, 'the rewrite matched nothing');
      const [found] = batch.failed;
      assert.ok(found, `${batch.seedsRun} seeds, and nothing was found`);
      const [violation] = found.violations;
      context.diagnostic(`seed ${found.seed}: ${violation?.invariant}: ${violation?.detail}`);
    });
  }
});
