import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  antiBotPolicy,
  backoffMs,
  ceilingMs,
  defaultPolicy,
  type RetryPolicy,
  retryPolicyFor,
  stagePolicies,
} from './backoff.ts';
import { type FailureCode, failures, isAntiBot } from './failure/failure.ts';
import type { Stage } from './lifecycle/stage.ts';

const policies: readonly RetryPolicy[] = [
  defaultPolicy,
  antiBotPolicy,
  ...Object.values(stagePolicies),
  { triesMax: 3, baseMs: 0, factor: 2, capMs: 1000 },
  { triesMax: 3, baseMs: 500, factor: 1, capMs: 1000 },
  { triesMax: 3, baseMs: 5000, factor: 2, capMs: 1000 },
];
const triesBefore = [0, 1, 2, 3, 5, 7, 10, 63, 64, 1023, 1024, 1e6, 1e308, Number.MAX_VALUE];
const chances = [0, Number.MIN_VALUE, 0.25, 0.5, 0.999999999, 1 - Number.EPSILON];

test('a wait is a whole number between half its ceiling and the ceiling, in every case', () => {
  for (const policy of policies) {
    for (const failedTries of triesBefore) {
      for (const chance of chances) {
        const wait = backoffMs({ ...policy, failedTries, random: () => chance });
        assert.ok(Number.isInteger(wait), `${wait} after ${failedTries}`);
        const ceiling = ceilingMs({ ...policy, failedTries });
        assert.ok(
          wait >= Math.floor(ceiling / 2) && wait <= ceiling,
          `${wait} after ${failedTries}`,
        );
        assert.ok(wait <= policy.capMs, `${wait} after ${failedTries}`);
      }
    }
  }
});

test('the ceiling grows by the factor until it reaches the cap', () => {
  const ceilings = [...Array(10).keys()].map((failedTries) =>
    ceilingMs({ ...defaultPolicy, failedTries }),
  );
  assert.deepEqual(
    ceilings,
    [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000],
  );
});

test('the ceiling never falls as tries rise', () => {
  for (const policy of policies) {
    const ceilings = triesBefore.map((failedTries) => ceilingMs({ ...policy, failedTries }));
    assert.deepEqual(
      ceilings,
      ceilings.toSorted((a, b) => a - b),
    );
  }
});

test('half of a wait is fixed and the other half is random', () => {
  assert.equal(backoffMs({ ...defaultPolicy, failedTries: 2, random: () => 0 }), 4_000);
  assert.equal(backoffMs({ ...defaultPolicy, failedTries: 2, random: () => 0.5 }), 6_000);
  assert.equal(backoffMs({ ...defaultPolicy, failedTries: 2, random: () => 0.9999 }), 7_999);
});

/** The sum of all waits of a step that fails each time. */
function totalMs(policy: RetryPolicy, chance: number): number {
  const retries = [...Array(policy.triesMax - 1).keys()];
  const waits = retries.map((failedTries) =>
    backoffMs({ ...policy, failedTries, random: () => chance }),
  );
  return waits.reduce((sum, wait) => sum + wait, 0);
}

test('every stage keeps trying for about a minute, for every random value', () => {
  for (const [stage, policy] of Object.entries(stagePolicies)) {
    assert.ok(totalMs(policy, 0) >= 30_000, `${stage}: ${totalMs(policy, 0)} ms at the least`);
    assert.ok(totalMs(policy, 1) <= 130_000, `${stage}: ${totalMs(policy, 1)} ms at the most`);
  }
  assert.equal(totalMs(stagePolicies.scraping, 0.5), 63_000);
});

test('no retry comes within the first second after a failure', () => {
  for (const policy of Object.values(stagePolicies)) {
    assert.ok(backoffMs({ ...policy, failedTries: 0, random: () => 0 }) >= 1_000);
  }
});

test('scraping is retried 3 times, embedding 5, every other stage is tried 7 times', () => {
  assert.equal(retryPolicyFor('scraping', 'network_error').triesMax, 4);
  assert.equal(retryPolicyFor('embedding', 'provider_unavailable').triesMax, 6);
  assert.equal(retryPolicyFor('chunking', 'timeout_soft').triesMax, 7);
});

test('only anti-bot signals slow down and raise the cap, in every stage', () => {
  for (const stage of ['scraping', 'chunking', 'embedding'] as const satisfies Stage[]) {
    for (const code of Object.keys(failures) as FailureCode[]) {
      const policy = retryPolicyFor(stage, code);
      assert.equal(policy.capMs > defaultPolicy.capMs, isAntiBot(code), code);
      assert.equal(policy.baseMs >= antiBotPolicy.baseMs, isAntiBot(code), code);
    }
  }
});
