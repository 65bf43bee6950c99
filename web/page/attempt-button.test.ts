import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attempt as machine } from '../../src/kernel/lifecycle/attempt.ts';
import { allowedActions } from '../../src/kernel/lifecycle/machine.ts';
import { attemptButton, type Circumstances, isOpen } from './attempt-button.ts';

const at = (status: (typeof machine.states)[number], more: Partial<Circumstances> = {}) => ({
  attempt: { status, occupied: false, actions: allowedActions(machine, status) },
  sentShare: undefined,
  sources: 0,
  corpus: 'pets',
  ...more,
});

describe('the attempt button', () => {
  for (const status of machine.states) {
    test(`only offers what a ${status} attempt allows`, () => {
      const { action } = attemptButton(at(status, { sources: 3 }));
      const allowed: readonly string[] = allowedActions(machine, status);
      assert.deepEqual(action === undefined ? [] : [action], allowed);
    });
  }

  test('says what it would add, and is disabled without sources', () => {
    assert.equal(attemptButton(at('idle', { sources: 1 })).text, 'Add 1 source to pets');
    assert.deepEqual(attemptButton(at('idle')), { text: 'Add' });
    assert.deepEqual(attemptButton(at('complete')), { text: 'Complete' });
    assert.equal(attemptButton(at('complete', { sources: 2 })).action, 'start');
  });

  test('stops a running upload, and never shows more than was sent', () => {
    const { text, action } = attemptButton(at('idle', { sources: 2, sentShare: 0.999 }));
    assert.deepEqual([text, action], ['Sending, 99 %: stop', 'abort']);
  });

  test('refers to a job if there are too many sources for one attempt', () => {
    const { text, action } = attemptButton(at('idle', { sources: 1001 }));
    assert.equal(action, undefined);
    assert.match(text, /add them in background/);
  });

  test('is disabled while another user runs the attempt', () => {
    const attempt = { status: 'idle' as const, occupied: true, actions: [] };
    assert.equal(attemptButton(at('idle', { attempt, sources: 2 })).action, undefined);
  });

  test('offers a start instead of a resume if the files of a paused attempt are gone', () => {
    const attempt = { status: 'paused' as const, occupied: false, actions: ['start' as const] };
    assert.equal(attemptButton(at('paused', { attempt, sources: 2 })).action, 'start');
  });

  test('an attempt is open from its start until its end', () => {
    const open = machine.states.filter((status) => isOpen({ status }));
    assert.deepEqual(open, ['running', 'stopping', 'paused']);
  });
});
