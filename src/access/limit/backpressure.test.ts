import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failures } from '../../kernel/failure/failure.ts';
import { backpressure } from './backpressure.ts';

test('a queue that is deeper than it may be is answered with 429 and Retry-After: 30', () => {
  const refusal = backpressure(101, 100);
  assert.equal(refusal?.code, 'queue_full');
  assert.equal(failures.queue_full.httpStatus, 429);
  assert.equal(refusal?.retryAfterMs, 30_000);
});

test('a queue with as many as there may be still takes one more', () => {
  assert.equal(backpressure(100, 100), undefined);
  assert.equal(backpressure(0, 100), undefined);
});
