import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLatch, TestWorld } from '../../test/support/test-world.ts';
import { JoinedReads } from './joined-reads.ts';

/** Reads that show the state at their start, and end when their latch opens. */
function setup() {
  const world = new TestWorld();
  const state = { value: 1, isFailing: false };
  const reads: { key: string; end: () => void }[] = [];
  const shared = new JoinedReads(world, async (key) => {
    const seen = { ...state };
    const latch = makeLatch();
    reads.push({ key, end: () => latch.open() });
    await latch.opened;
    if (seen.isFailing) throw new Error('the store is away');
    return seen.value;
  });
  return { world, state, reads, shared };
}

test('callers of one turn share a read, and other keys have their own', async () => {
  const { world, reads, shared } = setup();
  const all = Promise.all(['a', 'a', 'b', 'a'].map((key) => shared.read(key)));
  await world.advance(0);
  assert.deepEqual(
    reads.map(({ key }) => key),
    ['a', 'b'],
  );
  for (const { end } of reads) end();
  assert.deepEqual(await all, [1, 1, 1, 1]);
});

test('a caller never sees an older state than that of its call', async () => {
  const { world, state, reads, shared } = setup();
  const first = shared.read('a');
  await world.advance(0);
  state.value = 2;
  const later = [shared.read('a'), shared.read('a')];
  await world.advance(0);
  assert.equal(reads.length, 1, 'the next read waits for the one that is running');
  reads[0]?.end();
  assert.equal(await first, 1);
  await world.advance(0);
  assert.equal(reads.length, 2);
  reads[1]?.end();
  assert.deepEqual(await Promise.all(later), [2, 2]);
});

test('a failed read fails for those who shared it, and the next one is made', async () => {
  const { world, state, reads, shared } = setup();
  state.isFailing = true;
  const failed = Promise.allSettled([shared.read('a'), shared.read('a')]);
  await world.advance(0);
  state.isFailing = false;
  const next = shared.read('a');
  reads[0]?.end();
  assert.deepEqual(
    (await failed).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await world.advance(0);
  reads[1]?.end();
  assert.equal(await next, 1);
});
