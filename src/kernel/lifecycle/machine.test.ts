import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machines } from './diagram.ts';
import { item, noProgress, type Progress, stepTable } from './item.ts';
import { itemWait } from './item-wait.ts';
import {
  allowedActions,
  defineMachine,
  eventsOf,
  isFinal,
  type Machine,
  sqlCheck,
  targets,
  transition,
} from './machine.ts';

/** What each event must lead to, written down again by hand. What is absent must be refused. */
const expected: Record<string, Record<string, Record<string, string>>> = {
  job: {
    queued: {
      start: 'running',
      complete: 'succeeded',
      error: 'failed',
      cancel: 'canceled',
      pause: 'paused',
    },
    running: {
      wait: 'retry_pending',
      complete: 'succeeded',
      error: 'failed',
      cancel: 'canceled',
      pause: 'paused',
    },
    retry_pending: {
      start: 'running',
      complete: 'succeeded',
      error: 'failed',
      cancel: 'canceled',
      pause: 'paused',
    },
    paused: { resume: 'queued', cancel: 'canceled', complete: 'succeeded', error: 'failed' },
    succeeded: { retry: 'queued' },
    failed: { retry: 'queued' },
    canceled: { retry: 'queued' },
  },
  stage: {
    pending: { begin: 'scraping', skip: 'done', fail: 'failed', cancel: 'canceled' },
    scraping: { scrape: 'chunking', skip: 'done', fail: 'failed', cancel: 'canceled' },
    chunking: { chunk: 'embedding', fail: 'failed', cancel: 'canceled' },
    embedding: { embed: 'done', fail: 'failed', cancel: 'canceled' },
    done: {},
    failed: { retry: 'pending' },
    canceled: { retry: 'pending' },
  },
  attempt: {
    idle: { start: 'running' },
    running: { stop: 'stopping', complete: 'complete', app_close: 'stopping' },
    stopping: {
      canceled_with_work: 'paused',
      canceled_without_work: 'idle',
      app_close: 'stopping',
    },
    paused: { resume: 'running', discard: 'idle', app_close: 'stopping' },
    complete: { start: 'running' },
  },
  'batch-task': {
    pending: { submit: 'in_progress', fail: 'failed', cancel: 'canceled' },
    in_progress: {
      poll: 'in_progress',
      complete: 'completed',
      complete_partly: 'partial_complete',
      fail: 'failed',
      cancel: 'canceled',
    },
    completed: {},
    partial_complete: {},
    failed: {},
    canceled: {},
  },
  'sync-source': {
    active: { recover: 'active', fail: 'failing', pause: 'paused', remove: 'removed' },
    failing: { recover: 'active', fail: 'failing', pause: 'paused', remove: 'removed' },
    paused: { resume: 'active', remove: 'removed' },
    removed: {},
  },
  'sync-run': {
    listing: { list: 'listing', complete: 'matching', fail: 'failed', cancel: 'canceled' },
    matching: { match: 'matching', decide: 'applying', fail: 'failed', cancel: 'canceled' },
    applying: {
      act: 'applying',
      hold: 'held',
      succeed: 'succeeded',
      end_partly: 'partial',
      fail: 'failed',
      cancel: 'canceled',
    },
    held: { apply: 'applying', ignore: 'applying', cancel: 'canceled' },
    succeeded: {},
    partial: {},
    failed: {},
    canceled: {},
  },
  'batch-job': {
    submitted: {
      run: 'running',
      complete: 'completed',
      fail: 'failed',
      poll_error: 'submitted',
      poll_errors_exhausted: 'failed',
      resubmit: 'submitted',
    },
    running: {
      run: 'running',
      complete: 'completed',
      fail: 'failed',
      poll_error: 'running',
      poll_errors_exhausted: 'failed',
      resubmit: 'submitted',
    },
    completed: {},
    failed: { end_late: 'failed' },
  },
};

const everyMachine: readonly [string, Machine][] = Object.entries(machines);

for (const [name, machine] of everyMachine) {
  test(`${name}: the table names itself, known states and each edge once`, () => {
    assert.equal(machine.name, name);
    const edges = machine.edges.flatMap(([event, from, to]) =>
      from.map((state) => `${event} ${state} ${to}`),
    );
    const named = [
      machine.initial,
      ...machine.final,
      ...machine.edges.flatMap(([, from, to]) => [...from, to]),
    ];
    for (const state of named) assert.ok(machine.states.includes(state), state);
    assert.equal(new Set(machine.states).size, machine.states.length);
    assert.equal(new Set(edges).size, edges.length);
    for (const action of machine.actions) assert.ok(eventsOf(machine).includes(action), action);
  });

  test(`${name}: every state can be reached from the first`, () => {
    assert.deepEqual([...reachable(machine)].toSorted(), machine.states.toSorted());
  });

  test(`${name}: final states are left by retry, restart and discard only`, () => {
    for (const state of machine.final) {
      assert.ok(isFinal(machine, state));
      for (const event of eventsOf(machine)) {
        if (targets(machine, state, event).every((to) => to === state)) continue;
        assert.ok(['retry', 'restart', 'discard'].includes(event), `${event} in ${state}`);
        // A restart is the retry of the job, which takes its items along.
        if (event !== 'restart')
          assert.ok(machine.actions.includes(event), `${event} is no action`);
      }
    }
  });

  test(`${name}: a state that is not final can be left`, () => {
    for (const state of machine.states.filter((each) => !isFinal(machine, each))) {
      const next = eventsOf(machine).flatMap((event) => targets(machine, state, event));
      assert.ok(
        next.some((to) => to !== state),
        state,
      );
    }
  });

  test(`${name}: the SQL check names every state`, () => {
    const quoted = sqlCheck(machine, 'state').match(/'[a-z_]+'/g);
    assert.deepEqual(
      quoted,
      machine.states.map((state) => `'${state}'`),
    );
  });

  // Their events lead to several states: `item-wait.test.ts`, and the tests of items below.
  if (machine === item.machine || machine === itemWait) continue;

  test(`${name}: every event in every state leads where it must, or nowhere`, () => {
    const rows = expected[name] ?? {};
    assert.deepEqual(Object.keys(rows), machine.states);
    const events = new Set(Object.values(rows).flatMap((row) => Object.keys(row)));
    assert.deepEqual([...events].toSorted(), eventsOf(machine).toSorted());
    for (const state of machine.states) {
      for (const event of [...eventsOf(machine), 'no_such_event']) {
        assert.equal(
          transition(machine, state, event),
          rows[state]?.[event],
          `${event} in ${state}`,
        );
      }
    }
  });

  test(`${name}: the actions of a state are those of its events that a person may cause`, () => {
    for (const state of machine.states) {
      const row = Object.keys(expected[name]?.[state] ?? {});
      const actions = machine.actions.filter((action) => row.includes(action));
      assert.deepEqual(allowedActions(machine, state), actions, state);
    }
  });
}

test('a transition with two targets is refused with a sentence that says what to ask', () => {
  const machine = defineMachine({
    name: 'forked',
    initial: 'a',
    states: ['a', 'b', 'c'],
    final: [],
    actions: ['go'],
    edges: [
      ['go', ['a'], 'b'],
      ['go', ['a', 'b'], 'c'],
    ],
  });
  assert.throws(
    () => transition(machine, 'a', 'go'),
    /forked: go in a may lead to b, c; ask targets/,
  );
  assert.equal(transition(machine, 'b', 'go'), 'c');
  assert.deepEqual(targets(machine, 'a', 'go'), ['b', 'c']);
  assert.deepEqual(targets(machine, 'c', 'go'), []);
  assert.deepEqual(allowedActions(machine, 'a'), ['go']);
});

const steps = stepTable.map(({ step }) => step);
const branches = ['chunked', 'embedded', 'entity_extracted'];

test('item: each step from each reachable progress is one that the machine allows', () => {
  for (const progress of everyProgress()) {
    for (const step of steps) {
      const before = stepTable.find((row) => row.step === step)?.after ?? [];
      const mayRun =
        !item.isReached(progress, step) && before.every((each) => item.isReached(progress, each));
      assert.equal(item.ready(progress).includes(step), mayRun, describe(progress, step));
      if (!mayRun) continue;
      const next = item.reach(progress, step);
      const allowed = targets(item.machine, item.stepOf(progress), step);
      assert.ok(allowed.includes(item.stepOf(next)), describe(progress, step));
    }
  }
});

test('item: the machine allows no step that no progress can make', () => {
  const made = new Set<string>();
  for (const progress of everyProgress()) {
    for (const step of item.ready(progress)) {
      made.add(`${step} ${item.stepOf(progress)} ${item.stepOf(item.reach(progress, step))}`);
    }
  }
  for (const [event, from, to] of item.machine.edges.filter(([name]) =>
    steps.some((s) => s === name),
  )) {
    for (const state of from)
      assert.ok(made.has(`${event} ${state} ${to}`), `${event} ${state} ${to}`);
  }
});

test('item: progress only grows, and reaching a step twice changes nothing', () => {
  for (const progress of everyProgress()) {
    for (const step of item.ready(progress)) {
      const next = item.reach(progress, step);
      assert.equal(next & progress, progress);
      assert.equal(next, progress + item.bit(step));
      assert.equal(item.reach(next, step), next);
      assert.ok(!item.ready(next).includes(step));
      assert.ok(place(item.stepOf(next)) >= place(item.stepOf(progress)), describe(progress, step));
    }
  }
});

test('item: persisted is ready after all three branches and never before', () => {
  for (const progress of everyProgress()) {
    const joined = branches.every((branch) => item.isReached(progress, branch));
    const persisted = item.isReached(progress, 'persisted');
    assert.equal(item.ready(progress).includes('persisted'), joined && !persisted);
    if (persisted) assert.ok(joined);
  }
});

test('item: the state shown ends the unbroken run of steps, in any order of the branches', () => {
  const after = (...reached: string[]): string =>
    item.stepOf(['fetched', 'content_extracted', ...reached].reduce(item.reach, noProgress));
  assert.equal(item.stepOf(noProgress), 'enqueued');
  assert.equal(after(), 'content_extracted');
  assert.equal(after('embedded'), 'content_extracted');
  assert.equal(after('entity_extracted'), 'content_extracted');
  assert.equal(after('entity_extracted', 'embedded'), 'content_extracted');
  assert.equal(after('chunked'), 'chunked');
  assert.equal(after('entity_extracted', 'chunked'), 'chunked');
  assert.equal(after('embedded', 'chunked'), 'embedded');
  assert.equal(after('entity_extracted', 'embedded', 'chunked'), 'entity_extracted');
  assert.equal(after(...branches, 'persisted', 'indexed', 'done'), 'done');
});

test('item: there are 13 ways to stand, and work is ready in all of them but the last', () => {
  const all = everyProgress();
  // Before the fork 3 (none, fetched, extracted), at it 7 more, after it persisted, indexed, done.
  assert.equal(all.length, 3 + 7 + 3);
  for (const progress of all) {
    assert.equal(item.ready(progress).length === 0, progress === item.complete);
  }
});

test('item: open states can fail and be canceled, failed and canceled ones begin again', () => {
  const open = ['enqueued', ...steps.slice(0, -1)];
  const expectedOf = (state: string): Record<string, readonly string[]> => {
    if (state === 'failed') return { retry: open, restart: open, discard: ['canceled'] };
    if (state === 'canceled') return { restart: open };
    if (state === 'done') return {};
    const failing = { fail: ['failed'], condemn: ['failed'], expire: ['failed'] };
    return { ...failing, cancel: ['canceled'] };
  };
  const moves = eventsOf(item.machine).filter((event) => !steps.some((step) => step === event));
  assert.deepEqual(moves.toSorted(), 'cancel condemn discard expire fail restart retry'.split(' '));
  for (const state of item.machine.states) {
    for (const move of moves) {
      const found = targets(item.machine, state, move);
      assert.deepEqual(found, expectedOf(state)[move] ?? [], `${move} in ${state}`);
    }
  }
});

test('item: a step that is in no table is refused', () => {
  assert.throws(() => item.reach(noProgress, 'polished'), /no step is called polished/);
  assert.throws(() => item.row('polished'), /no step is called polished/);
});

test('item: stored bits are unique and stand where they always stood', () => {
  const bits = Object.fromEntries(stepTable.map(({ step, bit }) => [step, bit]));
  assert.deepEqual(bits, {
    fetched: 0,
    content_extracted: 1,
    chunked: 2,
    embedded: 3,
    entity_extracted: 4,
    persisted: 5,
    indexed: 6,
    done: 7,
  });
});

function everyProgress(): Progress[] {
  const seen = new Set<Progress>([noProgress]);
  for (const progress of seen) {
    for (const step of item.ready(progress)) seen.add(item.reach(progress, step));
  }
  return [...seen];
}

function reachable(machine: Machine): Set<string> {
  const seen = new Set([machine.initial]);
  for (const state of seen) {
    for (const event of eventsOf(machine)) {
      for (const to of targets(machine, state, event)) seen.add(to);
    }
  }
  return seen;
}

function place(state: string): number {
  return item.machine.states.indexOf(state);
}

function describe(progress: Progress, step: string): string {
  return `${step} after ${steps.filter((each) => item.isReached(progress, each)).join(', ')}`;
}
