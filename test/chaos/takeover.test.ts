/** Items of one process continue in another, and reports of the first are refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/kernel/limits/limits.ts';
import { firstSeed } from '../support/first-seed.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { recover } from './recovery.ts';
import { wakeZombies } from './zombie.ts';

const seed = firstSeed(import.meta.url);

test('10 workers that wake after they were given up are refused, and leave nothing', async (t) => {
  const directory = temporaryDirectory(t);
  const result = await wakeZombies({ directory }, { cycles: 10, seed });
  const { findings, errors } = result;
  assert.deepEqual({ findings, errors }, { findings: [], errors: [] });
  assert.ok(result.refused > 0, 'none of them reported');
});

test('items of a killed process continue from their last step before its leases end', async (t) => {
  const directory = temporaryDirectory(t);
  const result = await recover({ directory }, { places: 64, seed });
  console.log(`${result.leased} items continued ${result.fromReadyMs} ms after the start`);
  assert.deepEqual({ findings: result.findings, rerun: result.rerun }, { findings: [], rerun: [] });
  // A successor that waited for the leases to expire would need more than two thirds of their time.
  assert.ok(result.fromReadyMs < limits.lease.ttlMs / 2, `it took ${result.fromReadyMs} ms`);
});
