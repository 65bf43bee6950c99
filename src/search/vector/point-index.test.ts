import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planPoints } from './point-index.ts';

const standing = { model_id: 1, is_indexed: true, has_rough: false, chunks: 0 };

describe('a search by points', () => {
  test('compares all of few, and asks the index among many', () => {
    assert.equal(planPoints(standing, 100, 100), 'exactly');
    assert.equal(planPoints(standing, 101, 100), 'nearly');
  });

  test('compares all while there is no index', () => {
    assert.equal(planPoints({ ...standing, is_indexed: false }, 101, 100), 'exactly');
  });

  test('finds nothing where there is nothing', () => {
    assert.equal(planPoints(standing, 0, 100), 'none');
    assert.equal(planPoints({ ...standing, model_id: null }, 101, 100), 'none');
  });

  test('is left to the memory where vectors have one byte a dimension', () => {
    assert.equal(planPoints({ ...standing, has_rough: true }, 101, 100), 'otherwise');
  });
});
