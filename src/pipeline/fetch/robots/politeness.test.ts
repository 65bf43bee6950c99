import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { GateLimits } from '../../../store/item/gates.ts';
import { paceAfter } from './politeness.ts';

const { domainConcurrencyMax, domainIntervalMs, guardedDomainIntervalMs } = limits.fetch;
const normal: GateLimits = { concurrency: domainConcurrencyMax, intervalMs: domainIntervalMs };

function after(current: GateLimits, code?: FailureCode, crawlDelayMs?: number): GateLimits {
  const failure = code && new Failure(code, 'answered');
  const pace = paceAfter({ current, failure, crawlDelayMs });
  if (!pace) return current;
  assert.notEqual(pace.reason, '');
  return { concurrency: pace.concurrency, intervalMs: pace.intervalMs };
}

describe('the rate limit of a domain', () => {
  for (const code of ['captcha', '403_waf', '503_shield'] as const) {
    test(`falls to one page at a time after ${code}, and further each time`, () => {
      const once = after(normal, code);
      assert.deepEqual(once, { concurrency: 1, intervalMs: guardedDomainIntervalMs });
      assert.deepEqual(after(once, code), {
        concurrency: 1,
        intervalMs: guardedDomainIntervalMs * 2,
      });
    });
  }

  test('never falls below its slowest', () => {
    let pace = normal;
    for (let time = 0; time < 20; time += 1) pace = after(pace, 'captcha');
    assert.equal(pace.intervalMs, limits.fetch.slowestDomainIntervalMs);
  });

  test('halves after a 429', () => {
    assert.deepEqual(after(normal, 'http_429'), {
      concurrency: 1,
      intervalMs: domainIntervalMs * 2,
    });
  });

  test('recovers in steps, the delay before the concurrency', () => {
    let pace = after(normal, 'captcha');
    let steps = 0;
    for (; pace.intervalMs > domainIntervalMs; steps += 1) {
      assert.equal(pace.concurrency, 1);
      const next = after(pace);
      assert.ok(next.intervalMs < pace.intervalMs);
      pace = next;
    }
    assert.ok(steps > 5, 'not all at once');
    while (pace.concurrency < domainConcurrencyMax) pace = after(pace);
    assert.deepEqual(pace, normal);
    assert.equal(
      paceAfter({ current: pace, failure: undefined, crawlDelayMs: undefined }),
      undefined,
    );
  });

  test('keeps the crawl delay of robots.txt for as long as it is set', () => {
    const asked = after(normal, undefined, 5000);
    assert.equal(asked.intervalMs, 5000);
    assert.equal(after(asked, undefined, 5000).intervalMs, 5000);
    assert.ok(after(asked).intervalMs < 5000);
    assert.equal(after(normal, 'http_404', 5000).intervalMs, 5000);
  });

  test('recovers to the configured limit, and still falls after an anti-bot signal', () => {
    const pace = { concurrency: 5, intervalMs: 0 };
    const next = (current: GateLimits, failure?: Failure): GateLimits =>
      paceAfter({ current, failure, crawlDelayMs: undefined, normal: pace }) ?? current;
    let current = next(pace, new Failure('captcha', '-'));
    assert.deepEqual(current, {
      ...current,
      concurrency: 1,
      intervalMs: guardedDomainIntervalMs,
    });
    for (let given = 0; given < 60; given += 1) current = next(current);
    assert.deepEqual([current.concurrency, current.intervalMs], [5, 0]);
    const asked = next(pace, new Failure('http_429', '-'));
    assert.deepEqual([asked.concurrency, asked.intervalMs], [1, domainIntervalMs * 2]);
    const delayed = paceAfter({
      current: pace,
      failure: undefined,
      crawlDelayMs: 3000,
      normal: pace,
    });
    assert.equal(delayed?.intervalMs, 3000, 'robots.txt still applies');
  });

  for (const code of ['http_404', 'http_5xx', 'network_error', 'robots_disallowed'] as const) {
    test(`is not touched by ${code}`, () => assert.deepEqual(after(normal, code), normal));
  }
});
