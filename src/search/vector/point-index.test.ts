import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planPoints } from './point-index.ts';

const standing = { model_id: 1, is_indexed: true, has_rough: false, chunks: 0 };

describe('a search by points', () => {
  test('compares all vectors if there are few, and uses the index if there are many', () => {
    assert.equal(planPoints(standing, 100, 100), 'exactly');
    assert.equal(planPoints(standing, 101, 100), 'nearly');
  });

  test('compares all vectors while there is no index', () => {
    assert.equal(planPoints({ ...standing, is_indexed: false }, 101, 100), 'exactly');
  });

  test('finds nothing in an empty corpus', () => {
    assert.equal(planPoints(standing, 0, 100), 'none');
    assert.equal(planPoints({ ...standing, model_id: null }, 101, 100), 'none');
  });

  test('is left to the memory index if vectors have one byte per dimension', () => {
    assert.equal(planPoints({ ...standing, has_rough: true }, 101, 100), 'otherwise');
  });
});
