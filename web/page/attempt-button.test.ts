import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attempt as machine } from '../../src/kernel/lifecycle/attempt.ts';
import { allowedActions } from '../../src/kernel/lifecycle/machine.ts';
import { type Circumstances, isOpen, oneButton } from './attempt-button.ts';

const at = (status: (typeof machine.states)[number], more: Partial<Circumstances> = {}) => ({
  attempt: { status, occupied: false },
  sentShare: undefined,
  sources: 0,
  corpus: 'pets',
  ...more,
});

describe('the one button', () => {
  for (const status of machine.states) {
    test(`does only what an attempt allows that is ${status}`, () => {
      const { deed } = oneButton(at(status, { sources: 3 }));
      const allowed: readonly string[] = allowedActions(machine, status);
      assert.deepEqual(deed === undefined ? [] : [deed], allowed);
    });
  }

  test('says what it would take, and rests where there is nothing to take', () => {
    assert.equal(oneButton(at('idle', { sources: 1 })).text, 'Add 1 source to pets');
    assert.deepEqual(oneButton(at('idle')), { text: 'Start' });
    assert.deepEqual(oneButton(at('complete')), { text: 'Complete' });
    assert.equal(oneButton(at('complete', { sources: 2 })).deed, 'start');
  });

  test('stops what is being sent, and never promises more than was sent', () => {
    const { text, deed } = oneButton(at('idle', { sources: 2, sentShare: 0.999 }));
    assert.deepEqual([text, deed], ['Sending, 99 %: stop', 'abort']);
  });

  test('leaves to a job what is too much for one attempt', () => {
    const { text, deed } = oneButton(at('idle', { sources: 1001 }));
    assert.equal(deed, undefined);
    assert.match(text, /hand them over as a job/);
  });

  test('rests while the attempt is somebody else’s', () => {
    const attempt = { status: 'idle', occupied: true } as const;
    assert.equal(oneButton(at('idle', { attempt, sources: 2 })).deed, undefined);
  });

  test('an attempt is open from its start until its end', () => {
    const open = machine.states.filter((status) => isOpen({ status }));
    assert.deepEqual(open, ['running', 'stopping', 'paused']);
  });
});
