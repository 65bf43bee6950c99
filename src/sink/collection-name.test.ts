import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectionName, readCollectionName } from './collection-name.ts';

const pairs = [
  { corpus: 'notes', model: 'static-64' },
  { corpus: 'a.b_c-9', model: 'openai:text-embedding-3-small@256' },
  { corpus: 'a', model: 'onnx:/models/Ünïcode ~=%/../x' },
  { corpus: 'x~y', model: '=41' },
];

test('a name contains corpus and model, and nothing that has a meaning in a path', () => {
  const names = pairs.map((pair) => collectionName('pawl', pair));
  for (const [index, name] of names.entries()) {
    assert.match(name, /^[a-z0-9._=-]+~[a-z0-9._=-]+~[a-z0-9._=-]+$/);
    assert.deepEqual(readCollectionName('pawl', name), pairs[index]);
    assert.equal(readCollectionName('other', name), undefined);
  }
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, pairs.length);
});

test('foreign collections are not mistaken for ours', () => {
  for (const name of ['pawl', 'pawl~notes', 'pawl~notes~a~b', 'pawl~~a', 'pawl~N~a', 'pawl~=4~a']) {
    assert.equal(readCollectionName('pawl', name), undefined, name);
  }
});

test('a name that Qdrant would refuse is refused with advice', () => {
  const model = 'm'.repeat(300);
  assert.throws(() => collectionName('pawl', { corpus: 'notes', model }), /shorter name/);
});
