import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLatch, TestWorld } from '../../../test/support/test-world.ts';
import { Breaker } from './breaker.ts';

const options = { failuresMax: 3, openMs: 30_000, probeMs: 1_000 };

function setup() {
  const world = new TestWorld();
  const breaker = new Breaker(world, options);
  const fail = () => breaker.run(() => Promise.reject(new Error('no'))).catch(() => undefined);
  const open = async () => {
    for (let time = 0; time < options.failuresMax; time += 1) await fail();
  };
  return { world, breaker, fail, open };
}

test('a circuit opens at the last allowed failure, and not before', async () => {
  const { breaker, fail } = setup();
  await fail();
  await fail();
  assert.deepEqual([breaker.circuit, breaker.waitMs()], ['closed', 0]);
  await fail();
  assert.deepEqual([breaker.circuit, breaker.waitMs()], ['open', 30_000]);
});

test('calls that were running when it opened change nothing when they end', async () => {
  const { world, breaker, open } = setup();
  const [failing, succeeding] = [makeLatch(), makeLatch()];
  const late = [
    breaker.run(() => failing.opened.then(() => Promise.reject(new Error('no')))),
    breaker.run(() => succeeding.opened),
  ];
  const ended = Promise.allSettled(late);
  await open();
  world.skip(10_000);
  failing.open();
  succeeding.open();
  await ended;
  assert.deepEqual([breaker.circuit, breaker.waitMs()], ['open', 20_000]);
});

test('while one call probes whether it may close, the others wait a little', async () => {
  const { world, breaker, open } = setup();
  await open();
  world.skip(30_000);
  assert.deepEqual([breaker.circuit, breaker.waitMs()], ['half_open', 0]);
  const latch = makeLatch();
  const probe = breaker.run(() => latch.opened);
  assert.equal(breaker.waitMs(), 1_000);
  latch.open();
  await probe;
  assert.deepEqual([breaker.circuit, breaker.waitMs()], ['closed', 0]);
});

test('a clock that is set back does not keep it open', async () => {
  const { world, breaker, open } = setup();
  await open();
  world.skip(-86_400_000);
  assert.equal(breaker.waitMs(), 0);
});
