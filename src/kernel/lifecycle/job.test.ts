import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginsAttempt, job, jobActions, jobEventFor } from './job.ts';
import { allowedActions, statesBefore } from './machine.ts';

test('a retry is offered only where an item failed or was canceled', () => {
  for (const state of job.states) {
    const all = allowedActions(job, state);
    assert.deepEqual(jobActions(state, { failed: 1, canceled: 0 }), all, state);
    assert.deepEqual(jobActions(state, { failed: 0, canceled: 1 }), all, state);
    const none = jobActions(state, { failed: 0, canceled: 0 });
    assert.deepEqual(
      none,
      all.filter((action) => action !== 'retry'),
      state,
    );
  }
});

test('a retry and the start after a wait begin another attempt, and nothing else does', () => {
  for (const [event] of job.edges) {
    for (const state of statesBefore(job, event)) {
      const isNew = event === 'retry' || (event === 'start' && state === 'retry_pending');
      assert.equal(beginsAttempt(state, event), isNew, `${event} in ${state}`);
    }
  }
});

test('every move that follows from the counts is one that the table allows', () => {
  const numbers = [0, 1, 2];
  for (const state of job.states) {
    for (const done of numbers) {
      for (const failed of numbers) {
        for (const waiting of numbers) {
          const counts = { total: 3, done, failed, canceled: 0, waiting };
          const event = jobEventFor(state, counts);
          if (event !== undefined) assert.ok(statesBefore(job, event).includes(state), event);
        }
      }
    }
  }
});
