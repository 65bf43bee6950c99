import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failpoints } from '../../src/observe/failpoint.ts';
import { type BatchResult, replaysOf, runBatch } from './batch.ts';
import { faultKinds } from './fault.ts';

/**
 * Fixed seeds: the number of seeds until every rare event has happened is random, and is checked
 * only for the simulation itself.
 */
const firstSeed = 401;
const seedsMax = 1_000;

/** Nothing is fetched or paid here; the chaos tests kill real processes at these. */
const passable = failpoints.filter((name) => !/^(?:blob|paid)\./.test(name));

/** What has not happened yet in the runs so far. */
function missing({ faults, failpoints: passed, totals }: BatchResult): string[] {
  return [
    ...faultKinds.filter((kind) => faults[kind] === 0),
    ...passable.filter((name) => !passed.has(name)),
    ...(['refusedReports', 'zombieSteps'] as const).filter((name) => totals[name] === 0),
  ];
}

test('every fault happens, every failpoint is passed, and the promises hold', async (context) => {
  const more = { until: (batch: BatchResult) => missing(batch).length === 0, seedsMax };
  const batch = await runBatch({ firstSeed, seeds: 1, more, violationsMax: 5 });
  context.diagnostic(`${batch.seedsRun} seeds, ${batch.seedsPerSecond.toFixed(1)} seeds/s`);
  assert.deepEqual(replaysOf(batch), []);
  assert.deepEqual(missing(batch), [], 'these never happened');
});
