import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  attempt,
  cancellationEvent,
  firstPhase,
  isRepeatedStop,
  isSafeToLeave,
  phaseTable,
  restingPhase,
} from './attempt.ts';
import { allowedActions, eventsOf, transition } from './machine.ts';

test('paused is reached only when a cancellation has finished', () => {
  const ways = attempt.edges.filter(([, , to]) => to === 'paused');
  assert.deepEqual(ways, [['canceled_with_work', ['stopping'], 'paused']]);
});

test('a finished cancellation pauses where staged work remains and is idle where none does', () => {
  assert.equal(transition(attempt, 'stopping', cancellationEvent(true)), 'paused');
  assert.equal(transition(attempt, 'stopping', cancellationEvent(false)), 'idle');
});

test('a late completion of a canceled attempt is refused', () => {
  assert.equal(transition(attempt, 'stopping', 'complete'), undefined);
  assert.equal(transition(attempt, 'paused', 'complete'), undefined);
});

test('closing the application never completes, pauses or frees an attempt', () => {
  for (const status of attempt.states) {
    const open = ['running', 'stopping', 'paused'].includes(status);
    assert.equal(transition(attempt, status, 'app_close'), open ? 'stopping' : undefined);
  }
});

test('only a stop while stopping is a repeated stop', () => {
  for (const status of attempt.states) {
    for (const event of eventsOf(attempt)) {
      assert.equal(isRepeatedStop(status, event), status === 'stopping' && event === 'stop');
    }
  }
});

test('each status offers the one action that the one button shows', () => {
  const offered = attempt.states.map((status) => [status, allowedActions(attempt, status)]);
  assert.deepEqual(Object.fromEntries(offered), {
    idle: ['start'],
    running: ['stop'],
    stopping: [],
    paused: ['resume'],
    complete: ['start'],
  });
});

test('leaving is safe before an attempt begins and after its text is committed only', () => {
  const safe = phaseTable.map(({ phase }) => phase).filter(isSafeToLeave);
  assert.deepEqual(safe, ['not_started', 'text_committed']);
});

test('the phases stand in the order of the work', () => {
  assert.deepEqual(
    phaseTable.map(({ phase }) => phase),
    ['not_started', 'preflight', 'parsing', 'splitting', 'atomic_text_commit', 'text_committed'],
  );
  assert.equal(phaseTable[0].phase, restingPhase);
  assert.equal(phaseTable[1].phase, firstPhase);
});
