import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCpuMs } from '../../../test/support/measure.ts';
import { closestOf, nearOf } from './closest-name.ts';

describe('the closest name', () => {
  const known = ['exists', 'not in', 'in', '='];

  test('is the one with the fewest changes, and of two the one that was cut short', () => {
    assert.equal(closestOf('exist', known), 'exists');
    assert.equal(closestOf('im', known), 'in');
    assert.equal(closestOf('sea', ['see', 'search']), 'see');
    assert.equal(closestOf('x', []), '');
  });

  test('is none if a typing error is unlikely', () => {
    assert.equal(nearOf('exist', known), 'exists');
    assert.equal(nearOf('lantern', known), undefined);
    assert.equal(nearOf('='.repeat(1000), known), undefined);
  });

  test('of a very long text is found from its start', () => {
    const long = 'exists '.repeat(1_000_000);
    assertCpuMs(1000, () => assert.equal(closestOf(long, known), 'exists'));
  });
});
