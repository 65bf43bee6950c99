import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOnce } from './load-once.ts';

test('concurrent and later callers share one load', async () => {
  let loads = 0;
  const load = loadOnce(async () => ++loads);
  assert.equal(loads, 0);
  assert.deepEqual(await Promise.all([load(), load()]), [1, 1]);
  assert.equal(await load(), 1);
});

test('a failed load is tried again by the next caller', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    if (++loads === 1) throw new Error('too many open files');
    return loads;
  });
  await assert.rejects(load(), /too many open files/);
  assert.equal(await load(), 2);
});
