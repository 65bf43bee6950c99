import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etaSeconds } from './eta.ts';

const running = { open: 6, ends: 4, workedMs: 8000, isMoving: true };

test('the rest takes as long for each document as those before it took', () => {
  assert.equal(etaSeconds(running), 12);
  assert.equal(etaSeconds({ ...running, open: 0 }), 0);
});

test('documents that ended and were retried count for what they took', () => {
  assert.equal(etaSeconds({ open: 10, ends: 10, workedMs: 10_000, isMoving: true }), 10);
});

test('nothing is said of a job that stands still, or has done nothing yet', () => {
  assert.equal(etaSeconds({ ...running, isMoving: false }), null);
  assert.equal(etaSeconds({ ...running, ends: 0 }), null);
});
