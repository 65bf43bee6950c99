import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etaSeconds } from './eta.ts';

const running = { total: 10, processed: 4, startedAt: 1000, isMoving: true, now: 9000 };

test('the rest takes as long for each document as those before it took', () => {
  assert.equal(etaSeconds(running), 12);
  assert.equal(etaSeconds({ ...running, processed: 10 }), 0);
});

test('nothing is said of a job that has not begun, stands still, or has done nothing yet', () => {
  assert.equal(etaSeconds({ ...running, startedAt: null }), null);
  assert.equal(etaSeconds({ ...running, isMoving: false }), null);
  assert.equal(etaSeconds({ ...running, processed: 0 }), null);
});

test('a clock that went back makes no time negative', () => {
  assert.equal(etaSeconds({ ...running, now: 500 }), 0);
});
