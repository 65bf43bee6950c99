import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { patience } from '../support/patience.ts';
import { mixSettings } from './mixed-settings.ts';
import { breakServices } from './services.ts';

test('services lose nothing while their servers fail', {
  timeout: patience.testMs,
}, async (t) => {
  const seed = firstSeed(import.meta.url);
  const faults = { restarts: 2, flushes: 3, kills: 2, processKills: 1 };
  const tell = (line: string): void => t.diagnostic(line);
  const verdict = await breakServices({ ...faults, seed, tell, documents: 20, workers: 1 });
  const { lost, duplicated, stuck, failed } = verdict;
  assert.deepEqual(
    { lost, duplicated, stuck, failed },
    { lost: 0, duplicated: 0, stuck: 0, failed: 0 },
  );
});

test('services with different settings lose nothing, and pay once', {
  timeout: patience.testMs,
}, async () => {
  const verdict = await mixSettings({
    ...{ kills: 2, documents: 20, seed: firstSeed(import.meta.url) },
  });
  assert.deepEqual(verdict, {
    ...{ documents: 21, paid: 21, paidTwice: 0 },
    ...{ lost: 0, duplicated: 0, stuck: 0, failed: 0, reasons: [] },
  });
});
