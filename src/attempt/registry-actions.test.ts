/** What the registry offers it accepts; what it does not offer it refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AttemptSetup,
  bringTo,
  setupAttempt as setup,
} from '../../test/support/attempt-fixture.ts';
import { type AttemptStatus, attempt } from '../kernel/lifecycle/attempt.ts';

function assertRefused({ registry }: AttemptSetup, run: () => unknown): void {
  const { state } = registry;
  assert.throws(run, { code: 'action_not_allowed' });
  assert.equal(registry.state, state);
}

describe('an action', () => {
  const acts = { start: 'start', stop: 'stop', resume: 'resume' } as const;
  /** A second stop changes nothing and is no error. */
  const isRepeated = (status: AttemptStatus, action: string) =>
    status === 'stopping' && action === 'stop';

  for (const status of attempt.states) {
    test(`is accepted while ${status} if it is offered, and refused if not`, (t) => {
      for (const action of Object.values(acts)) {
        if (isRepeated(status, action)) continue;
        const bundle = setup(t);
        bringTo(bundle, status);
        const { registry } = bundle;
        if (registry.actions.includes(action)) registry[action]();
        else assertRefused(bundle, () => registry[action]());
      }
    });
  }

  test('is one that the table gives to a person', (t) => {
    const bundle = setup(t);
    assert.deepEqual(attempt.actions, Object.keys(acts));
    assert.deepEqual(bundle.registry.actions, ['start']);
    bringTo(bundle, 'paused');
    assert.deepEqual(bundle.registry.actions, ['resume']);
  });

  test('is a start, not a resume, if the files of the paused attempt are gone', (t) => {
    const bundle = setup(t);
    bundle.workspaces.abandon(bringTo(bundle, 'paused'));
    assert.deepEqual(bundle.registry.actions, ['start']);
    assertRefused(bundle, () => bundle.registry.resume());
  });

  test('is not offered once the application closes', (t) => {
    for (const status of attempt.states) {
      const bundle = setup(t);
      bringTo(bundle, status);
      bundle.registry.closeApp();
      assert.deepEqual(bundle.registry.actions, [], status);
    }
  });
});
