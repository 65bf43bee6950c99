import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AttemptSetup,
  bringTo,
  setupAttempt as setup,
} from '../../test/support/attempt-fixture.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { type AttemptStatus, attempt } from '../kernel/lifecycle/attempt.ts';
import { makeCancellationFlags } from './cancellation.ts';

const others = (...statuses: AttemptStatus[]) =>
  attempt.states.filter((status) => !statuses.includes(status));

/** Refused with a warning, and nothing has changed. */
function assertRefused(bundle: AttemptSetup, run: () => unknown): void {
  const { registry, flags, folders, of } = bundle;
  const { state } = registry;
  const before = { folders: folders(), warnings: of('warn').length };
  const id = state.attemptId ?? '';
  const requested = flags.isRequested(id);
  assert.throws(run, (error) => error instanceof Failure && error.code === 'action_not_allowed');
  assert.equal(registry.state, state);
  assert.deepEqual(folders(), before.folders);
  assert.equal(flags.isRequested(id), requested);
  assert.equal(of('warn').length, before.warnings + 1);
}

function testRefusedWhile(
  statuses: readonly AttemptStatus[],
  run: (registry: AttemptSetup['registry'], id: string) => unknown,
): void {
  for (const status of statuses) {
    test(`is refused while ${status}`, (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      assertRefused(bundle, () => run(bundle.registry, id));
    });
  }
}

describe('at first', () => {
  test('an attempt is idle, without an id', (t) => {
    const { status, attemptId } = setup(t).registry.state;
    assert.deepEqual({ status, attemptId }, { status: 'idle', attemptId: null });
  });

  test('the phase is not_started', (t) => {
    assert.equal(setup(t).registry.state.phase, 'not_started');
  });

  test('nothing is on disk, and a returned state object never changes', (t) => {
    const { registry, folders } = setup(t);
    assert.deepEqual(folders(), []);
    assert.throws(() => Object.assign(registry.state, { status: 'running' }), TypeError);
    assert.ok(Object.isFrozen(registry.start()));
  });
});

describe('starting', () => {
  for (const from of ['idle', 'complete'] as const) {
    test(`from ${from} makes a new id and enters preflight`, (t) => {
      const bundle = setup(t);
      const before = bringTo(bundle, from);
      const state = bundle.registry.start();
      assert.notEqual(state.attemptId, before);
      assert.equal(state.phase, 'preflight');
      assert.equal(state.status, 'running');
      assert.equal(state.stagedWorkRemaining, true);
    });
  }

  test('makes the workspace before the attempt runs', (t) => {
    const bundle = setup(t);
    let seen: boolean | undefined;
    bundle.registry.listen(({ attemptId }) => {
      seen = bundle.workspaces.has(attemptId ?? '');
    });
    bundle.registry.start();
    assert.equal(seen, true);
  });

  test('makes a new workspace each time', async (t) => {
    const bundle = setup(t);
    bringTo(bundle, 'complete');
    const { attemptId } = bundle.registry.start();
    await bundle.workspaces.settled();
    assert.equal(bundle.folders().length, 1);
    assert.ok(bundle.folders()[0]?.endsWith(attemptId ?? '-'));
  });

  test('begins with a flag that is not requested', (t) => {
    const { registry, flags } = setup(t);
    const { attemptId } = registry.start();
    assert.equal(flags.isRequested(attemptId ?? ''), false);
  });

  for (const from of others('idle', 'complete')) {
    test(`is refused while ${from}: there is only one attempt`, (t) => {
      const bundle = setup(t);
      bringTo(bundle, from);
      assertRefused(bundle, () => bundle.registry.start());
    });
  }

  test('without a workspace is logged as an error, throws, and leaves the attempt idle', (t) => {
    const bundle = setup(t);
    bundle.workspaces.create = () => {
      throw new Failure('storage_full', 'no room');
    };
    assert.throws(() => bundle.registry.start(), /no room/);
    assert.equal(bundle.registry.state.status, 'idle');
    assert.equal(bundle.of('error').length, 1);
  });
});

describe('a phase', () => {
  test('is accepted from the running attempt', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    for (const phase of ['parsing', 'splitting', 'atomic_text_commit', 'text_committed'] as const) {
      assert.equal(bundle.registry.setPhase(id, phase).phase, phase);
    }
  });

  test('of an older attempt is refused and changes nothing', (t) => {
    const bundle = setup(t);
    const old = bringTo(bundle, 'complete');
    bundle.registry.start();
    assertRefused(bundle, () => bundle.registry.setPhase(old, 'text_committed'));
  });

  for (const status of others('running', 'idle')) {
    test(`is refused while ${status}, even from the current attempt`, (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      assertRefused(bundle, () => bundle.registry.setPhase(id, 'parsing'));
    });
  }

  test('is refused while there is no attempt', (t) => {
    const bundle = setup(t);
    assertRefused(bundle, () => bundle.registry.setPhase('none', 'parsing'));
  });
});

describe('stopping', () => {
  testRefusedWhile(others('running', 'stopping'), (registry) => registry.stop());

  test('leads to stopping, not to paused, and keeps the phase', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    bundle.registry.setPhase(id, 'splitting');
    const state = bundle.registry.stop();
    assert.deepEqual(state, {
      status: 'stopping',
      phase: 'splitting',
      attemptId: id,
      stagedWorkRemaining: true,
    });
  });

  test('sets the flag before the status changes', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    let status: AttemptStatus | undefined;
    bundle.flags.signal(id).addEventListener('abort', () => {
      status = bundle.registry.state.status;
    });
    bundle.registry.stop();
    assert.equal(status, 'running');
    assert.equal(bundle.flags.isRequested(id), true);
  });

  test('again, while stopping, returns the current state and a warning', (t) => {
    const bundle = setup(t);
    bringTo(bundle, 'stopping');
    const { state } = bundle.registry;
    assert.equal(bundle.registry.stop(), state);
    assert.equal(bundle.of('warn').length, 1);
    assert.equal(bundle.folders().length, 1);
  });

  test('leaves the attempt running, and throws, if the flag cannot be set', (t) => {
    const flags = makeCancellationFlags();
    const bundle = setup(t, { flags });
    bringTo(bundle, 'running');
    flags.request = () => {
      throw new Failure('internal_error', 'no flag');
    };
    assert.throws(() => bundle.registry.stop(), /no flag/);
    assert.equal(bundle.registry.state.status, 'running');
    assert.equal(bundle.of('error').length, 1);
  });
});

describe('the end of a cancellation', () => {
  testRefusedWhile(others('stopping', 'idle'), (registry, id) =>
    registry.finishCancellation(id, true),
  );

  test('of an older attempt is refused', (t) => {
    const bundle = setup(t);
    const old = bringTo(bundle, 'complete');
    bundle.registry.start();
    bundle.registry.stop();
    assertRefused(bundle, () => bundle.registry.finishCancellation(old, false));
  });

  test('pauses if work remains, and keeps id, phase, workspace and request', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    bundle.registry.setPhase(id, 'parsing');
    bundle.registry.stop();
    assert.deepEqual(bundle.registry.finishCancellation(id, true), {
      status: 'paused',
      phase: 'parsing',
      attemptId: id,
      stagedWorkRemaining: true,
    });
    assert.equal(bundle.workspaces.has(id), true);
    assert.equal(bundle.flags.isRequested(id), true);
    assert.ok(bundle.of('info').some((line) => line.includes('finished its cancellation')));
  });

  test('is idle if nothing remains: no id, no phase, no flag, no workspace', async (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'stopping');
    assert.deepEqual(bundle.registry.finishCancellation(id, false), {
      status: 'idle',
      phase: 'not_started',
      attemptId: null,
      stagedWorkRemaining: false,
    });
    assert.throws(() => bundle.flags.signal(id));
    await bundle.workspaces.settled();
    assert.deepEqual(bundle.folders(), []);
  });
});

describe('resuming', () => {
  testRefusedWhile(others('paused'), (registry) => registry.resume());

  test('keeps the id, the phase and the workspace, and clears the request', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    bundle.registry.setPhase(id, 'splitting');
    bundle.registry.stop();
    bundle.registry.finishCancellation(id, true);
    const folders = bundle.folders();
    const { status, phase, attemptId } = bundle.registry.resume();
    assert.deepEqual(
      { status, phase, attemptId },
      { status: 'running', phase: 'splitting', attemptId: id },
    );
    assert.equal(bundle.flags.isRequested(id), false);
    assert.equal(bundle.flags.signal(id).aborted, false);
    assert.deepEqual(bundle.folders(), folders);
  });

  test('is refused if the workspace is gone, and does not make another', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'paused');
    bundle.workspaces.abandon(id);
    assertRefused(bundle, () => bundle.registry.resume());
    assert.equal(bundle.flags.isRequested(id), true);
  });
});

describe('completion', () => {
  for (const status of ['stopping', 'paused'] as const) {
    test(`that comes late, while ${status}, is refused and cleans up nothing`, (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      assertRefused(bundle, () => bundle.registry.complete(id));
      assert.equal(bundle.workspaces.has(id), true);
    });
  }

  test('is refused a second time, and while there is no attempt', (t) => {
    const bundle = setup(t);
    assertRefused(bundle, () => bundle.registry.complete('none'));
    const id = bringTo(bundle, 'complete');
    assertRefused(bundle, () => bundle.registry.complete(id));
  });

  test('of an older attempt cannot complete a newer one', (t) => {
    const bundle = setup(t);
    const old = bringTo(bundle, 'complete');
    bundle.registry.start();
    assertRefused(bundle, () => bundle.registry.complete(old));
  });

  test('resets the phase, clears the flag and cleans the workspace', async (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    bundle.registry.setPhase(id, 'text_committed');
    const { status, phase, stagedWorkRemaining } = bundle.registry.complete(id);
    assert.deepEqual(
      { status, phase, stagedWorkRemaining },
      { status: 'complete', phase: 'not_started', stagedWorkRemaining: false },
    );
    assert.throws(() => bundle.flags.signal(id));
    await bundle.workspaces.settled();
    assert.deepEqual(bundle.folders(), []);
  });

  test('is distinct from idle until the next start', (t) => {
    const bundle = setup(t);
    bringTo(bundle, 'complete');
    assert.equal(bundle.registry.state.status, 'complete');
    assert.notEqual(bundle.registry.state.status, setup(t).registry.state.status);
  });
});

describe('the end of the application', () => {
  for (const status of ['running', 'stopping', 'paused'] as const) {
    test(`discards an attempt that is ${status}: it is stopping, and stays so`, (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      const { phase } = bundle.registry.state;
      const state = bundle.registry.closeApp();
      assert.equal(state.status, 'stopping');
      assert.equal(state.phase, phase);
      assert.equal(bundle.flags.isRequested(id), true);
      assertRefused(bundle, () => bundle.registry.complete(id));
      assertRefused(bundle, () => bundle.registry.finishCancellation(id, true));
      assertRefused(bundle, () => bundle.registry.setPhase(id, 'text_committed'));
      assertRefused(bundle, () => bundle.registry.resume());
      assert.equal(bundle.registry.mayCommit(id), false);
    });

    test(`leaves the folder of an attempt that is ${status} to the next start`, async (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      bundle.registry.closeApp();
      await bundle.workspaces.settled();
      assert.equal(bundle.workspaces.has(id), false);
      assert.equal(bundle.folders().length, 1);
    });
  }

  for (const status of ['idle', 'complete'] as const) {
    test(`changes nothing while ${status}, but nothing can be started any more`, (t) => {
      const bundle = setup(t);
      bringTo(bundle, status);
      const { state } = bundle.registry;
      assert.equal(bundle.registry.closeApp(), state);
      assertRefused(bundle, () => bundle.registry.start());
    });
  }

  test('is logged at the level info, once', (t) => {
    const bundle = setup(t);
    bringTo(bundle, 'running');
    bundle.registry.closeApp();
    bundle.registry.closeApp();
    assert.equal(bundle.of('info').filter((line) => line.includes('app_close')).length, 1);
  });
});

describe('what may be stored', () => {
  for (const status of attempt.states) {
    test(`while ${status} is ${status === 'running' ? 'what was made' : 'nothing'}`, (t) => {
      const bundle = setup(t);
      const id = bringTo(bundle, status);
      assert.equal(bundle.registry.mayCommit(id), status === 'running');
      assert.equal(bundle.registry.mayCommit('older'), false);
    });
  }

  test('is nothing from the moment the flag is set, before the status changes', (t) => {
    const bundle = setup(t);
    const id = bringTo(bundle, 'running');
    let seen: boolean | undefined;
    bundle.flags.signal(id).addEventListener('abort', () => {
      seen = bundle.registry.mayCommit(id);
    });
    bundle.registry.stop();
    assert.equal(seen, false);
  });
});

test('transitions are logged at the level info, without paths of the machine', (t) => {
  const bundle = setup(t);
  const id = bringTo(bundle, 'paused');
  bundle.registry.resume();
  bundle.registry.complete(id);
  const moves = bundle.of('info').filter((line) => line.includes(' moved from '));
  assert.equal(moves.length, 5);
  assert.equal(
    bundle.lines.some((line) => line.includes(bundle.folder) || line.includes('/')),
    false,
  );
});
