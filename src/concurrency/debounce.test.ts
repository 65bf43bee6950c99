import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Debounce } from './debounce.ts';

/** A clock that the test moves, and runs that the test ends. */
function scene() {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const ends: (() => void)[] = [];
  const world = {
    now: () => now,
    setTimer(run: () => void, delayMs: number) {
      const timer = { at: now + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const debounce = new Debounce({
    world,
    quietMs: 100,
    delayMsMax: 1000,
    run: () => new Promise((resolve) => ends.push(resolve)),
  });
  const pass = (ms: number): void => {
    now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= now)) {
      timers.delete(timer);
      timer.run();
    }
  };
  const end = async (): Promise<void> => {
    ends.at(-1)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { debounce, pass, end, runs: () => ends.length };
}

test('a burst of 10,000 events is one run', async () => {
  const { debounce, pass, end, runs } = scene();
  for (let event = 0; event < 10_000; event += 1) debounce.signal();
  pass(99);
  assert.equal(runs(), 0);
  pass(1);
  assert.equal(runs(), 1);
  await end();
  pass(10_000);
  assert.equal(runs(), 1);
});

test('events that never pause are delayed up to the maximum', () => {
  const { debounce, pass, runs } = scene();
  for (let event = 0; event < 10; event += 1) {
    debounce.signal();
    pass(99);
    assert.equal(runs(), 0);
  }
  debounce.signal();
  pass(10);
  assert.equal(runs(), 1);
});

test('events during a run lead to exactly one more run', async () => {
  const { debounce, pass, end, runs } = scene();
  debounce.signal();
  pass(100);
  for (let event = 0; event < 100; event += 1) debounce.signal();
  pass(5000);
  assert.equal(runs(), 1);
  await end();
  pass(100);
  assert.equal(runs(), 2);
  await end();
  pass(5000);
  assert.equal(runs(), 2);
});

test('nothing runs after it was stopped', async () => {
  const { debounce, pass, runs } = scene();
  debounce.signal();
  await debounce.stop();
  debounce.signal();
  pass(5000);
  assert.equal(runs(), 0);
});
