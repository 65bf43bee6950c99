import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOnce } from './load-once.ts';

test('what is needed by many at once, and later again, is loaded once', async () => {
  let loads = 0;
  const load = loadOnce(async () => ++loads);
  assert.equal(loads, 0);
  assert.deepEqual(await Promise.all([load(), load()]), [1, 1]);
  assert.equal(await load(), 1);
});

test('what could not be loaded is tried again by who needs it next', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    if (++loads === 1) throw new Error('too many open files');
    return loads;
  });
  await assert.rejects(load(), /too many open files/);
  assert.equal(await load(), 2);
});
