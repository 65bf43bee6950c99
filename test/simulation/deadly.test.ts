import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstSeed } from '../support/first-seed.ts';
import { type BatchResult, replaysOf, runBatch } from './batch.ts';

const seed = firstSeed(import.meta.url);
const seeds = 15;
const seedsMax = 400;

test(`only documents that kill are blamed, in ${seeds} seeds full of deaths`, async (context) => {
  const isEnough = ({ totals }: BatchResult) => totals.suspectsClaimed > 0 && totals.blamed > 0;
  const more = { until: isEnough, seedsMax };
  const run = { firstSeed: seed, seeds, more, violationsMax: 5, isDeadly: true };
  const batch = await runBatch(run);
  const { suspectsClaimed, blamed } = batch.totals;
  context.diagnostic(`${suspectsClaimed} times a suspect ran alone, ${blamed} were blamed`);
  assert.deepEqual(replaysOf(batch, 'deadly'), []);
  assert.ok(isEnough(batch), 'no suspect ran alone, or no poison was blamed');
});
