import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestWorld } from '../../test/support/test-world.ts';
import type { Failure } from '../kernel/failure/failure.ts';
import { Budget } from './rate-limit.ts';

function setup(limits = { requestsPerMinute: 60, tokensPerMinute: 6000 }) {
  const world = new TestWorld();
  const budget = new Budget('embedder', world, limits);
  /** Zero if the request may be sent, else the time to wait. */
  const waitFor = (tokens = 0): number => {
    try {
      budget.take(tokens);
      return 0;
    } catch (error) {
      assert.equal((error as Failure).code, 'rate_limited');
      return (error as Failure).retryAfterMs ?? Number.NaN;
    }
  };
  return { world, budget, waitFor };
}

test('a full bucket allows a minute of requests at once, then says how long to wait', () => {
  const { waitFor } = setup();
  for (let request = 0; request < 60; request++) assert.equal(waitFor(), 0);
  assert.equal(waitFor(), 1000);
});

test('it refills evenly over time, up to a full minute', () => {
  const { world, waitFor } = setup();
  for (let request = 0; request < 60; request++) waitFor();
  world.skip(2000);
  assert.deepEqual([waitFor(), waitFor(), waitFor()], [0, 0, 1000]);
  world.skip(3_600_000);
  for (let request = 0; request < 60; request++) assert.equal(waitFor(), 0);
  assert.equal(waitFor(), 1000);
});

test('tokens are counted beside requests, and the longer wait counts', () => {
  const { waitFor } = setup();
  assert.equal(waitFor(6000), 0);
  assert.equal(waitFor(100), 1000);
  assert.equal(waitFor(3000), 30_000);
});

test('a refused request consumes nothing', () => {
  const { world, waitFor } = setup();
  waitFor(6000);
  for (let request = 0; request < 100; request++) waitFor(100);
  world.skip(1000);
  assert.equal(waitFor(100), 0);
});

test('a request may be sent after the given wait', () => {
  const { world, waitFor } = setup({ requestsPerMinute: 7, tokensPerMinute: 13 });
  for (let request = 0; request < 50; request++) {
    const waitMs = waitFor(3);
    world.skip(waitMs);
    if (waitMs > 0) assert.ok(waitFor(3) <= 1, `request ${request}`);
  }
});

test('a request larger than a minute of tokens goes when the bucket is full', () => {
  const { world, waitFor } = setup();
  assert.equal(waitFor(12_000), 0);
  assert.equal(waitFor(1), 60_010);
  world.skip(60_010);
  assert.equal(waitFor(1), 0);
});

test('no request is sent before the time that a provider has asked for', () => {
  const { world, budget, waitFor } = setup();
  budget.close(5000);
  budget.close(1000);
  assert.equal(waitFor(), 5000);
  world.skip(5000);
  assert.equal(waitFor(), 0);
});

test('a clock that is set back neither adds nor removes tokens', () => {
  const { world, waitFor } = setup();
  for (let request = 0; request < 60; request++) waitFor();
  world.skip(-10_000);
  assert.equal(waitFor(), 1000);
  world.skip(1000);
  assert.equal(waitFor(), 0);
});

test('it says what is left of the minute, and until when it is closed', () => {
  const { world, budget, waitFor } = setup();
  waitFor(1500);
  budget.close(2000);
  assert.deepEqual(budget.look(), {
    provider: 'embedder',
    requestsPerMinute: 60,
    tokensPerMinute: 6000,
    requestsLeft: 59,
    tokensLeft: 4500,
    closedUntil: world.now() + 2000,
  });
});
