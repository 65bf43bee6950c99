import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runBatch } from './batch.ts';
import { plantedDefects } from './planted.ts';

const seedsMax = 2_000;

describe('the simulation finds what is broken on purpose', () => {
  for (const { name, plant, isCheap, matches } of plantedDefects()) {
    test(`without ${name}`, async (context) => {
      const run = { firstSeed: 1, seeds: seedsMax, violationsMax: 1 };
      const batch = await runBatch({ ...run, plant, isCheap });
      assert.notEqual(matches?.(), 0, 'the rewrite matched nothing');
      const [found] = batch.failed;
      assert.ok(found, `${batch.seedsRun} seeds, and nothing was found`);
      const [violation] = found.violations;
      context.diagnostic(`seed ${found.seed}: ${violation?.invariant}: ${violation?.detail}`);
    });
  }
});
