import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failures } from '../../kernel/failure/failure.ts';
import { backpressure } from './backpressure.ts';

test('a queue above its maximum depth is answered with 429 and Retry-After: 30', () => {
  const refusal = backpressure(101, 100);
  assert.equal(refusal?.code, 'queue_full');
  assert.equal(failures.queue_full.httpStatus, 429);
  assert.equal(refusal?.retryAfterMs, 30_000);
});

test('a queue at its maximum depth still accepts one more', () => {
  assert.equal(backpressure(100, 100), undefined);
  assert.equal(backpressure(0, 100), undefined);
});
