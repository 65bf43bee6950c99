/** Compares random commands, with late and stale reports among them, with a simple model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { recordingLog } from '../../test/support/attempt-fixture.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { type AttemptPhase, type AttemptStatus, phaseTable } from '../kernel/lifecycle/attempt.ts';
import { type CancellationFlags, makeCancellationFlags } from './cancellation.ts';
import { AttemptRegistry, type WorkspaceOwner } from './registry.ts';

/** An attempt from the user's point of view. */
interface Model {
  status: AttemptStatus;
  phase: AttemptPhase;
  /** The number of the attempt; 0 if there is none. */
  current: number;
  started: number;
  requested: boolean;
  /** The attempts whose scratch files exist. */
  folders: Set<number>;
  closed: boolean;
}

class MemoryWorkspaces implements WorkspaceOwner {
  readonly folders = new Set<string>();
  readonly owned = new Set<string>();

  create(id: string): void {
    this.folders.add(id);
    this.owned.add(id);
  }

  has(id: string): boolean {
    return this.owned.has(id);
  }

  remove(id: string): void {
    this.owned.delete(id);
    this.folders.delete(id);
  }

  abandon(id: string): void {
    this.owned.delete(id);
  }
}

class Real {
  readonly flags: CancellationFlags = makeCancellationFlags();
  readonly workspaces = new MemoryWorkspaces();
  readonly registry: AttemptRegistry;
  #ids = 0;

  constructor() {
    const { log } = recordingLog();
    const world = { uuid: () => this.idOf(++this.#ids) };
    const { flags, workspaces } = this;
    this.registry = new AttemptRegistry({ flags, workspaces, world, log });
  }

  idOf(number: number): string {
    return `attempt-${number}`;
  }
}

type Act = (registry: AttemptRegistry, id: string) => unknown;
/** Changes the model and returns true, or leaves it unchanged and returns false: refused. */
type Expect = (model: Model, number: number) => boolean;

/** One command: how the registry is called, and the expected effect on the model. */
class Step implements fc.Command<Model, Real> {
  readonly #name: string;
  readonly #act: Act;
  readonly #expect: Expect;
  /** How many attempts ago the report comes from. */
  readonly #age: number;

  constructor(name: string, act: Act, expect: Expect, age = 0) {
    this.#name = name;
    this.#act = act;
    this.#expect = expect;
    this.#age = age;
  }

  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): void {
    const before = real.registry.state;
    const number = model.started - this.#age;
    const isTaken = this.#expect(model, number);
    const act = (): unknown => this.#act(real.registry, real.idOf(number));
    if (isTaken) act();
    else {
      assert.throws(act, (error) => error instanceof Failure);
      assert.equal(real.registry.state, before);
    }
    assertSame(model, real);
  }

  toString(): string {
    return this.#age === 0 ? this.#name : `${this.#name} of ${this.#age} before`;
  }
}

function assertSame(model: Model, real: Real): void {
  const { status, phase, attemptId, stagedWorkRemaining } = real.registry.state;
  assert.equal(status, model.status);
  assert.equal(phase, model.phase);
  assert.equal(attemptId, model.current === 0 ? null : real.idOf(model.current));
  assert.equal(stagedWorkRemaining, ['running', 'stopping', 'paused'].includes(status));
  assert.deepEqual(real.workspaces.folders, new Set([...model.folders].map(real.idOf)));
  if (model.current > 0 && status !== 'complete') {
    assert.equal(real.flags.isRequested(attemptId ?? ''), model.requested);
  }
  const mayCommit = status === 'running' && !model.closed;
  assert.equal(real.registry.mayCommit(attemptId ?? ''), mayCommit);
}

const isOpen = ({ status }: Model): boolean =>
  status === 'running' || status === 'stopping' || status === 'paused';

function start(model: Model): boolean {
  if (isOpen(model) || model.closed) return false;
  model.started += 1;
  model.folders.add(model.started);
  Object.assign(model, { status: 'running', phase: 'preflight', requested: false });
  model.current = model.started;
  return true;
}

function stop(model: Model): boolean {
  if (model.status === 'stopping') return true;
  if (model.status !== 'running' || model.closed) return false;
  Object.assign(model, { status: 'stopping', requested: true });
  return true;
}

function resume(model: Model): boolean {
  if (model.status !== 'paused' || model.closed) return false;
  Object.assign(model, { status: 'running', requested: false });
  return true;
}

function end(model: Model, status: AttemptStatus): void {
  model.folders.delete(model.current);
  Object.assign(model, { status, phase: 'not_started' });
  if (status === 'idle') model.current = 0;
}

const finish = (workRemains: boolean) => (model: Model, number: number) => {
  const isTaken = model.status === 'stopping' && number === model.current && !model.closed;
  if (isTaken && workRemains) model.status = 'paused';
  else if (isTaken) end(model, 'idle');
  return isTaken;
};

function complete(model: Model, number: number): boolean {
  const isTaken = model.status === 'running' && number === model.current && !model.closed;
  if (isTaken) end(model, 'complete');
  return isTaken;
}

const reach = (phase: AttemptPhase) => (model: Model, number: number) => {
  const isTaken = model.status === 'running' && number === model.current && !model.closed;
  if (isTaken) model.phase = phase;
  return isTaken;
};

function closeApp(model: Model): boolean {
  if (isOpen(model)) Object.assign(model, { status: 'stopping', requested: true });
  model.closed = true;
  return true;
}

/** Mostly of the current attempt, sometimes of one that ended long ago. */
const age = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 }));
const phases = fc.constantFrom(...phaseTable.map(({ phase }) => phase));

const commands: fc.Arbitrary<fc.Command<Model, Real>>[] = [
  fc.constant(new Step('start', (registry) => registry.start(), start)),
  fc.constant(new Step('stop', (registry) => registry.stop(), stop)),
  fc.constant(new Step('resume', (registry) => registry.resume(), resume)),
  age.map((old) => new Step('complete', (registry, id) => registry.complete(id), complete, old)),
  fc.tuple(fc.boolean(), age).map(([remains, old]) => {
    const name = `finish with${remains ? '' : 'out'} work`;
    const act: Act = (registry, id) => registry.finishCancellation(id, remains);
    return new Step(name, act, finish(remains), old);
  }),
  fc.tuple(phases, age).map(([phase, old]) => {
    const act: Act = (registry, id) => registry.setPhase(id, phase);
    return new Step(phase, act, reach(phase), old);
  }),
];
/** Rare, because little happens after it. */
const closing = fc.constant(new Step('close', (registry) => registry.closeApp(), closeApp));

test('ten thousand random sequences of commands and late reports match the model', (t) => {
  const seed = Number(process.env.PAWL_TEST_SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const sequences = fc.tuple(
    fc.commands(commands, { maxCommands: 30 }),
    fc.commands([...commands, closing], { maxCommands: 8 }),
  );
  fc.assert(
    fc.property(sequences, ([first, second]) => {
      const model: Model = {
        status: 'idle',
        phase: 'not_started',
        current: 0,
        started: 0,
        requested: false,
        folders: new Set(),
        closed: false,
      };
      const real = new Real();
      fc.modelRun(() => ({ model, real }), first);
      fc.modelRun(() => ({ model, real }), second);
    }),
    { seed, numRuns: 10_000 },
  );
});
