import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printedSeed } from './seed.ts';
import { breakServices } from './services.ts';

test('services lose nothing while their servers are broken', { timeout: 300_000 }, async (t) => {
  const seed = printedSeed();
  const faults = { restarts: 2, flushes: 3, kills: 2, processKills: 1 };
  const tell = (line: string): void => t.diagnostic(line);
  const verdict = await breakServices({ ...faults, seed, tell, documents: 20, workers: 1 });
  const { lost, duplicated, stuck, failed } = verdict;
  assert.deepEqual(
    { lost, duplicated, stuck, failed },
    { lost: 0, duplicated: 0, stuck: 0, failed: 0 },
  );
});
