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
import { type FailureCode, failures, isAntiBot } from './failure.ts';
import type { Stage } from './stage.ts';

const policies: readonly RetryPolicy[] = [
  defaultPolicy,
  antiBotPolicy,
  ...Object.values(stagePolicies),
  { attemptsMax: 3, baseMs: 0, factor: 2, capMs: 1000 },
  { attemptsMax: 3, baseMs: 500, factor: 1, capMs: 1000 },
  { attemptsMax: 3, baseMs: 5000, factor: 2, capMs: 1000 },
];
const attempts = [0, 1, 2, 3, 5, 7, 10, 63, 64, 1023, 1024, 1e6, 1e308, Number.MAX_VALUE];
const chances = [0, Number.MIN_VALUE, 0.25, 0.5, 0.999999999, 1 - Number.EPSILON];

test('a wait is whole, within nothing and the cap, for every policy, attempt and chance', () => {
  for (const policy of policies) {
    for (const attempt of attempts) {
      for (const chance of chances) {
        const wait = backoffMs({ ...policy, attempt, random: () => chance });
        assert.ok(Number.isInteger(wait), `${wait} after ${attempt}`);
        assert.ok(wait >= 0 && wait <= policy.capMs, `${wait} after ${attempt}`);
      }
    }
  }
});

test('the ceiling grows by the factor until it rests at the cap', () => {
  const ceilings = [...Array(10).keys()].map((attempt) => ceilingMs({ ...defaultPolicy, attempt }));
  assert.deepEqual(
    ceilings,
    [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000],
  );
});

test('the ceiling never falls as attempts rise', () => {
  for (const policy of policies) {
    const ceilings = attempts.map((attempt) => ceilingMs({ ...policy, attempt }));
    assert.deepEqual(
      ceilings,
      ceilings.toSorted((a, b) => a - b),
    );
  }
});

test('the jitter is full: chance alone decides between nothing and the ceiling', () => {
  assert.equal(backoffMs({ ...defaultPolicy, attempt: 2, random: () => 0 }), 0);
  assert.equal(backoffMs({ ...defaultPolicy, attempt: 2, random: () => 0.5 }), 4_000);
  assert.equal(backoffMs({ ...defaultPolicy, attempt: 2, random: () => 0.9999 }), 7_999);
});

test('scraping is retried three times, embedding five, all else is tried seven times', () => {
  assert.equal(retryPolicyFor('scraping', 'network_error').attemptsMax, 4);
  assert.equal(retryPolicyFor('embedding', 'provider_unavailable').attemptsMax, 6);
  assert.equal(retryPolicyFor('chunking', 'timeout_soft').attemptsMax, 7);
});

test('anti-bot signals, and they alone, slow down and raise the cap in every stage', () => {
  for (const stage of ['scraping', 'chunking', 'embedding'] as const satisfies Stage[]) {
    for (const code of Object.keys(failures) as FailureCode[]) {
      const policy = retryPolicyFor(stage, code);
      assert.equal(policy.capMs > defaultPolicy.capMs, isAntiBot(code), code);
      assert.equal(policy.baseMs > defaultPolicy.baseMs, isAntiBot(code), code);
    }
  }
});
