import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestWorld } from '../../../test/support/test-world.ts';
import { MemoryWindow } from './window.ts';

const hour = 3_600_000;
const claim = { callerId: 'a', limit: 10, windowMs: hour, isSharing: true };

function setup(bounds = { callersMax: 100, loggedRequestsMax: 10_000 }) {
  const world = new TestWorld();
  const window = new MemoryWindow(world, bounds);
  const take = async (count: number, changes: Partial<typeof claim> = {}) => {
    let allowed = 0;
    for (let time = 0; time < count; time += 1) {
      if ((await window.take({ ...claim, ...changes })).isAllowed) allowed += 1;
    }
    return allowed;
  };
  return { world, window, take };
}

describe('the window in memory', () => {
  test('forgets callers without requests in the window', async () => {
    const { world, window, take } = setup();
    await take(1, { callerId: 'short', windowMs: 1_000 });
    world.skip(1_000);
    for (const callerId of ['b', 'c', 'd']) await take(20, { callerId });
    assert.equal(window.size.callers, 3);
    world.skip(hour);
    await take(1);
    assert.deepEqual(window.size, { callers: 1, places: 16 });
    assert.equal(window.activeCallers('a'), 1);
  });

  test('releases memory after a busy hour', async () => {
    const { world, window, take } = setup();
    await take(1000, { limit: 1000 });
    assert.equal(window.size.places, 1024);
    for (let hours = 0; hours < 8; hours += 1) {
      world.skip(hour);
      await take(1);
    }
    assert.ok(window.size.places <= 64, `${window.size.places} places`);
  });

  test('holds a bounded number of callers and evicts the least recently seen', async () => {
    const { window, take } = setup({ callersMax: 3, loggedRequestsMax: 10_000 });
    for (const callerId of ['a', 'b', 'c', 'a', 'd']) await take(6, { callerId });
    assert.equal(window.size.callers, 3);
    assert.equal(await take(6, { callerId: 'a' }), 0, 'a was seen lately');
    assert.equal(await take(6, { callerId: 'b' }), 6, 'b was forgotten');
    assert.ok(window.activeCallers('a') <= 4);
  });

  test('holds a bounded number of requests for any limits', async () => {
    const { window, take } = setup({ callersMax: 100, loggedRequestsMax: 256 });
    for (let caller = 0; caller < 20; caller += 1) {
      await take(100, { callerId: `caller-${caller}`, limit: 1000 });
    }
    assert.ok(window.size.places <= 256, `${window.size.places} places`);
  });

  test('keeps counting when the clock is set back, and neither frees nor freezes', async () => {
    const { world, take } = setup();
    assert.equal(await take(12), 10);
    world.skip(-24 * hour);
    assert.equal(await take(1), 0);
    world.skip(hour - 1);
    assert.equal(await take(1), 0);
    world.skip(1);
    assert.equal(await take(12), 10);
  });
});
