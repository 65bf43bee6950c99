import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchActions, batchDecisions, sayings } from './batch-decision.ts';
import { batchJob } from './lifecycle/batch-job.ts';

test('every state and every provider status has one decision', () => {
  for (const state of batchJob.states) {
    for (const said of sayings) {
      const action = batchDecisions[state][said];
      assert.ok(batchActions.includes(action), `${state} × ${said}`);
    }
  }
});

test('a job that has ended stays as it is, and an open one is never ignored', () => {
  for (const state of batchJob.states) {
    const isEnded = batchJob.final.includes(state);
    for (const said of sayings) {
      assert.equal(batchDecisions[state][said] === 'ignore', isEnded, `${state} × ${said}`);
    }
  }
});

test('only a condition that may pass by the next poll is counted as an error', () => {
  const counted = sayings.filter((said) => batchDecisions.running[said] === 'count_error');
  assert.deepEqual(counted, ['gone', 'unreachable']);
});
