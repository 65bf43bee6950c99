import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decidePgvector, type PgvectorDecision, type PgvectorSeen } from './pgvector.ts';

const nothing: PgvectorSeen = {
  installed: null,
  available: null,
  is_visible: false,
  has_points: false,
};

const cases: readonly [string, Partial<PgvectorSeen>, PgvectorDecision][] = [
  ['is used if it is installed', { installed: '0.8.1', is_visible: true }, 'use'],
  ['is used in a later version', { installed: '1.0', is_visible: true }, 'use'],
  ['is installed if possible', { available: '0.8.0' }, 'create'],
  ['is not available', {}, 'absent'],
  ['is too old if it is installed', { installed: '0.7.4', is_visible: true }, 'too_old'],
  ['is too old to be installed', { available: '0.5.1' }, 'too_old'],
  [
    'is used as installed, even if a newer version is available',
    { installed: '0.6.0', available: '0.8.1', is_visible: true },
    'too_old',
  ],
  ['is not used from a schema outside the search path', { installed: '0.8.1' }, 'hidden'],
];

describe('pgvector', () => {
  for (const [title, seen, decision] of cases) {
    test(title, () => {
      assert.equal(decidePgvector({ ...nothing, ...seen }, 'auto'), decision);
    });
  }

  test('is not used if it is set to off', () => {
    const seen = { ...nothing, installed: '0.8.1', is_visible: true };
    assert.equal(decidePgvector(seen, 'off'), 'off');
  });
});
