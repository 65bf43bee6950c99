import assert from 'node:assert/strict';
import { test } from 'node:test';
import { antiBotPolicy, ceilingMs, defaultPolicy, stagePolicies } from './backoff.ts';
import { Failure, type FailureCode, failures, isOutage } from './failure/failure.ts';
import { limits } from './limits/limits.ts';
import { type Outcome, type Reaction, react, strongest } from './reaction.ts';

const outcomeOf = (failure: Failure): Outcome => ({ kind: failure.kind, failure });
const now = 1_700_000_000_000;
const hourMs = 3_600_000;
const codes = Object.keys(failures) as FailureCode[];
const policies = [defaultPolicy, antiBotPolicy, ...Object.values(stagePolicies)];
const chances = [0, 0.5, 0.999999];

/** What a provider may ask for, and how long Pawl then waits. */
const retryAfterForms: readonly (readonly [asked: number | undefined, waitMs: number])[] = [
  [undefined, 30_000],
  [Number.NaN, 30_000],
  [-1, 30_000],
  [Number.NEGATIVE_INFINITY, 30_000],
  [0, limits.wait.retryAfterMsMin],
  [1500, 1500],
  [1500.2, 1501],
  [60_000, 60_000],
  [hourMs, hourMs],
  [hourMs + 1, hourMs],
  [Number.POSITIVE_INFINITY, hourMs],
];

test('success advances, regardless of earlier failures', () => {
  for (const failedTries of [0, 1, 7, 8]) {
    const input = { failedTries, policy: defaultPolicy, now, random: () => 0.5 };
    assert.deepEqual(react({ ...input, outcome: { kind: 'ok' } }), { do: 'advance' });
  }
});

for (const code of codes) {
  test(`${code} is handled as ${failures[code].kind}, in every case`, () => {
    for (const policy of policies) {
      for (let failedTries = 0; failedTries <= policy.triesMax + 1; failedTries += 1) {
        for (const [retryAfterMs, waitMs] of retryAfterForms) {
          for (const chance of chances) {
            const outcome = outcomeOf(new Failure(code, 'it failed', { retryAfterMs }));
            const reaction = react({ outcome, failedTries, policy, now, random: () => chance });
            const ceiling = ceilingMs({ ...policy, failedTries });
            const last = failedTries + 1 >= policy.triesMax;
            assertExpected(reaction, { code, failedTries, last, waitMs, ceiling, retryAfterMs });
          }
        }
      }
    }
  });
}

interface Expected {
  readonly code: FailureCode;
  readonly failedTries: number;
  readonly last: boolean;
  readonly waitMs: number;
  readonly ceiling: number;
  readonly retryAfterMs: number | undefined;
}

function assertExpected(reaction: Reaction, expected: Expected): void {
  const { code, failedTries, last, waitMs, ceiling, retryAfterMs } = expected;
  const { kind } = failures[code];
  if (isOutage(code)) {
    assert.equal(reaction.do, 'wait');
    const asked = Math.min(Math.max(retryAfterMs || 0, 0), hourMs);
    const { outageMsMin, outageMsMax } = limits.wait;
    assert.ok(Number.isInteger(reaction.dueAt));
    assert.ok(reaction.dueAt >= now + Math.max(asked, outageMsMin));
    assert.ok(reaction.dueAt <= now + Math.max(Math.ceil(asked), outageMsMax));
    assert.match(reaction.reason, /uses no retry$/);
  } else if (kind === 'rate_limited') {
    assert.equal(reaction.do, 'wait');
    assert.equal(reaction.dueAt, now + waitMs);
    assert.match(reaction.reason, /uses no retry$/);
  } else if (kind === 'transient' && !last) {
    assert.equal(reaction.do, 'retry');
    assert.equal(reaction.failedTries, failedTries + 1);
    const asked = Math.min(Math.max(retryAfterMs || 0, 0), hourMs);
    assert.ok(Number.isInteger(reaction.dueAt));
    assert.ok(reaction.dueAt >= now + Math.max(asked, Math.floor(ceiling / 2)));
    assert.ok(reaction.dueAt <= now + Math.max(ceiling, Math.ceil(asked)));
  } else {
    assert.equal(reaction.do, 'fail');
    assert.equal(reaction.code, code);
    const spent = new RegExp(`after ${failedTries + 1} tr(y|ies)$`);
    if (kind === 'transient') assert.match(reaction.reason, spent);
    else assert.doesNotMatch(reaction.reason, /\btr(y|ies)\b/);
  }
  assert.ok(reaction.reason.startsWith(`${code}: `));
}

test('a failing step is tried exactly as often as its policy allows', () => {
  for (const policy of policies) {
    let tries = 0;
    let reaction: Reaction = { do: 'retry', dueAt: now, failedTries: 0, reason: '' };
    while (reaction.do === 'retry') {
      tries += 1;
      const outcome = outcomeOf(new Failure('network_error', 'reset'));
      reaction = react({
        outcome,
        failedTries: reaction.failedTries,
        policy,
        now,
        random: () => 0.5,
      });
    }
    assert.equal(tries, policy.triesMax);
  }
});

test('the reason is a sentence that an operator can read', () => {
  const input = { failedTries: 1, policy: stagePolicies.scraping, now, random: () => 0.5 };
  const reasonOf = (code: FailureCode, retryAfterMs?: number, failedTries = 1): string => {
    const outcome = outcomeOf(new Failure(code, 'it failed', { retryAfterMs }));
    const reaction = react({ ...input, failedTries, outcome });
    return reaction.do === 'advance' ? '' : reaction.reason;
  };
  assert.equal(reasonOf('network_error'), 'network_error: try 3 of 4 in 12 s');
  assert.equal(reasonOf('network_error', undefined, 3), 'network_error: gave up after 4 tries');
  assert.equal(reasonOf('http_429', 1500), 'http_429: waits 1.5 s as requested; uses no retry');
  assert.equal(
    reasonOf('store_busy'),
    'store_busy: checked again in 9 s until the outage ends; uses no retry',
  );
  assert.equal(reasonOf('invalid_url'), 'invalid_url: a retry would fail the same way');
});

/** In rising strength: each beats all before it. */
const ladder: readonly Reaction[] = [
  { do: 'advance' },
  { do: 'wait', dueAt: 90, reason: 'short wait' },
  { do: 'wait', dueAt: 100, reason: 'long wait' },
  { do: 'retry', dueAt: 10, failedTries: 1, reason: 'soon' },
  { do: 'retry', dueAt: 20, failedTries: 1, reason: 'later' },
  { do: 'fail', code: 'invalid_url', reason: 'failed' },
];

test('of two branches the stronger reaction wins, in either order', () => {
  for (const [index, weaker] of ladder.entries()) {
    for (const stronger of ladder.slice(index)) {
      assert.deepEqual(strongest([weaker, stronger]), stronger);
      assert.deepEqual(strongest([stronger, weaker]), stronger);
    }
  }
});

test('of many branches the strongest wins, and the first of equal ones', () => {
  assert.equal(strongest(ladder), ladder.at(-1));
  assert.equal(strongest(ladder.toReversed()), ladder.at(-1));
  const first: Reaction = { do: 'fail', code: 'captcha', reason: 'first' };
  assert.equal(strongest([first, { do: 'fail', code: 'parse_timeout', reason: 'second' }]), first);
  assert.deepEqual(strongest([]), { do: 'advance' });
});
