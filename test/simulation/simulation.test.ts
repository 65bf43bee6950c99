import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { failpoints } from '../../src/observe/failpoint.ts';
import { runBatch } from './batch.ts';
import { faultKinds } from './fault.ts';
import { runSeed } from './simulation.ts';
import { openStore } from './store.ts';

/**
 * The short version of `npm run simulate`. It begins where a worker goes on with a step although
 * its lease is gone, which few seeds have.
 */
const firstSeed = 401;
const seeds = 120;
const cheapSeeds = 40;

describe('the simulated world', () => {
  test(`keeps every promise in ${seeds} seeds`, async (context) => {
    const batch = await runBatch({ firstSeed, seeds, violationsMax: 5 });
    context.diagnostic(`${batch.seedsPerSecond.toFixed(1)} seeds/s`);
    const found = batch.failed.flatMap(({ seed, violations }) =>
      violations.map(({ invariant, detail }) => `seed ${seed}: ${invariant}: ${detail}`),
    );
    assert.deepEqual(found, []);
    assert.deepEqual(
      faultKinds.filter((kind) => batch.faults[kind] === 0),
      [],
      'these faults never happened',
    );
    // Here nothing is fetched and nothing costs anything; chaos kills real processes at these.
    const passed = failpoints.filter((name) => !/^(?:blob|paid)\./.test(name));
    assert.deepEqual(
      passed.filter((name) => !batch.failpoints.has(name)),
      [],
      'these failpoints were never passed',
    );
    assert.ok(batch.totals.refusedReports > 0 && batch.totals.zombieSteps > 0);
  });

  test(`pays for nothing twice in the cheap lane in ${cheapSeeds} seeds`, async (context) => {
    const run = { firstSeed: 1, seeds: cheapSeeds, violationsMax: 5, isCheap: true };
    const batch = await runBatch(run);
    context.diagnostic(`${batch.seedsPerSecond.toFixed(1)} seeds/s`);
    const found = batch.failed.flatMap(({ seed, violations }) =>
      violations.map(({ invariant, detail }) => `seed ${seed}: ${invariant}: ${detail}`),
    );
    assert.deepEqual(found, []);
    const passed = ['paid.before-commit', 'paid.after-commit', 'batch.after-submit'];
    assert.deepEqual(
      passed.filter((name) => !batch.failpoints.has(name)),
      [],
      'these failpoints were never passed',
    );
  });

  test('is the same for the same seed', async () => {
    const stories = async (): Promise<string[]> => {
      const store = await openStore();
      const hashes: string[] = [];
      for (let seed = 1; seed <= 20; seed++) {
        const { lines, turns } = await runSeed({ seed, store, isTracing: true });
        hashes.push(
          createHash('sha256')
            .update(`${turns}\n${lines.join('\n')}`)
            .digest('hex'),
        );
      }
      await store.database.close();
      return hashes;
    };
    assert.deepEqual(await stories(), await stories());
  });

  test('is another for another seed', async () => {
    const store = await openStore();
    const first = await runSeed({ seed: 1, store, isTracing: true });
    const second = await runSeed({ seed: 2, store, isTracing: true });
    await store.database.close();
    assert.notDeepEqual(first.lines, second.lines);
  });
});
