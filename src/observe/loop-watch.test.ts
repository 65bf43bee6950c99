import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import { LoopWatch, type Stall, stallLog } from './loop-watch.ts';

/** A loop whose timers fire as late as the test says, after as much CPU time as it says. */
function setup() {
  const stalls: Stall[] = [];
  const warnings: string[] = [];
  let [at, cpu] = [0, 0];
  let due: (() => void) | undefined;
  const world = {
    now: () => at,
    setTimer: (run: () => void) => {
      due = run;
      return () => {
        due = undefined;
      };
    },
  } as unknown as World;
  const watch = new LoopWatch({ world, clock: () => at, cpu: () => cpu });
  watch.listen((stall) => stalls.push(stall));
  watch.listen(stallLog(world, (message) => warnings.push(message)));
  watch.start();
  const pass = (ms: number, cpuMs: number): void => {
    at += ms;
    cpu += cpuMs;
    due?.();
  };
  return { watch, stalls, warnings, pass };
}

const { stallLookMs, stallLogMs } = limits.loop;

describe('the watch over the event loop', () => {
  test('says nothing while timers fire in time', () => {
    const { pass, stalls } = setup();
    for (let count = 0; count < 10; count += 1) pass(stallLookMs + 200, 200);
    assert.deepEqual(stalls, []);
  });

  test('reports what blocked the loop, and for how long', () => {
    const { watch, pass, stalls, warnings } = setup();
    watch.begin('GET /healthz');
    pass(stallLookMs, 1);
    watch.begin('POST /jobs');
    watch.begin('step chunked');
    pass(stallLookMs + 900, 880);
    const activities = ['POST /jobs', 'step chunked'];
    assert.deepEqual(stalls, [{ cause: 'work', ms: 900, cpuMs: 880, activities }]);
    assert.deepEqual(warnings, [
      'the event loop was blocked for 900 ms (CPU 880 ms): POST /jobs, step chunked',
    ]);
  });

  test('distinguishes a busy machine from our own work', () => {
    const { pass, stalls, warnings } = setup();
    pass(stallLookMs + 900, 40);
    assert.deepEqual(
      stalls.map(({ cause }) => cause),
      ['wait'],
    );
    assert.deepEqual(warnings, []);
  });

  test('writes one line a minute, for any number of stalls', () => {
    const { watch, pass, stalls, warnings } = setup();
    watch.begin('step indexed');
    for (let count = 0; count < 20; count += 1) pass(stallLookMs + 300, 300);
    assert.equal(warnings.length, 1);
    pass(stallLogMs, 0);
    pass(stallLookMs + 300, 300);
    assert.equal(stalls.filter(({ cause }) => cause === 'work').length, 21);
    assert.match(warnings[1] ?? '', /: step indexed, 19 more since the last such line$/);
  });

  test('ends when it is stopped', () => {
    const { watch, pass, stalls } = setup();
    watch.stop();
    pass(10_000, 10_000);
    assert.deepEqual(stalls, []);
  });
});
