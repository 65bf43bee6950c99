import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBounded, readBoundedText } from './bounded.ts';

const tooLarge = (): Error => new Error('too large');

/** Counts the parts that were consumed. */
function source(parts: readonly string[]) {
  const state = { taken: 0, isEnded: false };
  const body = (async function* () {
    try {
      for (const part of parts) {
        state.taken += 1;
        yield Buffer.from(part);
      }
    } finally {
      state.isEnded = true;
    }
  })();
  return { body, state };
}

test('a body within its bound is read whole, across part boundaries', async () => {
  const ä = Buffer.from('ä');
  const body = (async function* () {
    yield Buffer.from('\ufeffH');
    yield ä.subarray(0, 1);
    yield ä.subarray(1);
  })();
  assert.equal(await readBoundedText(body, 6, tooLarge), '\ufeffHä');
  assert.equal((await readBounded(null, 0, tooLarge)).length, 0);
});

test('a body beyond its bound is refused at once, and the rest is not read', async () => {
  const { body, state } = source(['abc', 'def', 'ghi', 'jkl']);
  await assert.rejects(readBounded(body, 5, tooLarge), /too large/);
  assert.deepEqual(state, { taken: 2, isEnded: true });
});
