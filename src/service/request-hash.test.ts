import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestHash } from './request-hash.ts';

test('the order of keys does not change the hash, at any depth', async () => {
  const one = { corpus_name: 'a', documents: [{ id: '1', text: 'x', meta: { b: 1, a: [2, 3] } }] };
  const other = {
    documents: [{ meta: { a: [2, 3], b: 1 }, text: 'x', id: '1' }],
    corpus_name: 'a',
  };
  assert.equal(await requestHash(one), await requestHash(other));
});

test('any other change changes the hash, and so does the order of a list', async () => {
  const requests: readonly unknown[] = [
    { a: ['x', 'y'] },
    { a: ['y', 'x'] },
    { a: ['xy'] },
    { a: [['x', 'y']] },
    { a: 'x', b: 'y' },
    { a: ['x'], b: 'y' },
    { a: null },
    { a: [] },
    {},
    ['POST /batch/tasks', { a: ['x', 'y'] }],
  ];
  const hashes = await Promise.all(requests.map(requestHash));
  assert.equal(new Set(hashes).size, requests.length);
});
