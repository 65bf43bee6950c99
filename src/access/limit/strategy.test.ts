import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CallerContext, localCaller } from '../caller.ts';
import { compositeStrategy, fairShareStrategy, membershipTierStrategy } from './strategy.ts';

const share = { capacity: 1000, floor: 100, burstFactor: 1.5, internalFactor: 20 };
const fair = fairShareStrategy(share);
const tier = membershipTierStrategy({ pro: 5000 }, share.floor);
const composite = compositeStrategy(fair, tier);

function caller(changes: Partial<CallerContext> = {}): CallerContext {
  return { ...localCaller, callerId: 'somebody', ...changes };
}

describe('fair share', () => {
  const shares: readonly [active: number, requests: number, burst: number][] = [
    [0, 1000, 500],
    [1, 1000, 500],
    [2, 500, 250],
    [3, 333, 166],
    [10, 100, 50],
    [11, 100, 50],
    [5000, 100, 50],
  ];
  for (const [active, requests, burst] of shares) {
    test(`gives ${requests} requests and a burst of ${burst} to each of ${active} callers`, () => {
      const expected = { requests, burst, windowSeconds: 3600 };
      assert.deepEqual(fair(caller(), active), expected);
    });
  }

  test('gives services 20 times the floor, for any number of active callers, and no burst', () => {
    const expected = { requests: 2000, burst: 0, windowSeconds: 3600 };
    for (const active of [1, 5000]) {
      assert.deepEqual(fair(caller({ internal: true }), active), expected);
    }
  });
});

describe('the tier of Membership', () => {
  test('gives the limit of the table, and the floor for an unknown tier', () => {
    assert.equal(tier(caller({ tier: 'pro' }), 9).requests, 5000);
    assert.equal(tier(caller({ tier: 'platinum' }), 9).requests, 100);
    assert.equal(tier(caller({ tier: 'constructor' }), 9).requests, 100);
  });

  test('prefers the limits of the claims to those of the tier', () => {
    const rawClaims = { rate_limits: { requests: 7, window_seconds: 60, burst: 3 } };
    const expected = { requests: 7, windowSeconds: 60, burst: 3 };
    assert.deepEqual(tier(caller({ tier: 'pro', rawClaims }), 9), expected);
  });

  test('clamps claims that are out of range', () => {
    const rawClaims = { rate_limits: { requests: 1e12, window_seconds: 1e9, burst: 1e12 } };
    const expected = { requests: 1_000_000, windowSeconds: 86_400, burst: 0 };
    assert.deepEqual(tier(caller({ rawClaims }), 9), expected);
  });
});

describe('the composite', () => {
  test('is fair share for a caller without claims', () => {
    assert.deepEqual(composite(caller(), 4), fair(caller(), 4));
    const service = caller({ internal: true });
    assert.deepEqual(composite(service, 4), fair(service, 4));
  });

  test('uses the tier as soon as there is one', () => {
    assert.equal(composite(caller({ tier: 'pro' }), 4).requests, 5000);
  });

  test('uses the claimed limits as soon as there are some', () => {
    const rawClaims = { rate_limits: { requests: 7 } };
    const expected = { requests: 7, windowSeconds: 3600, burst: 0 };
    assert.deepEqual(composite(caller({ rawClaims }), 4), expected);
  });
});
