import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchJob, pollErrorEvent } from './batch-job.ts';
import { transition } from './machine.ts';

test('two transient poll errors keep the state, the third fails the job', () => {
  for (const state of ['submitted', 'running'] as const) {
    assert.equal(transition(batchJob, state, pollErrorEvent(0)), state);
    assert.equal(transition(batchJob, state, pollErrorEvent(1)), state);
    assert.equal(transition(batchJob, state, pollErrorEvent(2)), 'failed');
    assert.equal(transition(batchJob, state, pollErrorEvent(3)), 'failed');
  }
});

test('a job may end before it was ever seen running', () => {
  assert.equal(transition(batchJob, 'submitted', 'complete'), 'completed');
  assert.equal(transition(batchJob, 'submitted', 'fail'), 'failed');
});
