import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { takesOnlyNames, withNames } from './sqlite-parameters.ts';

describe('numbered parameters', () => {
  test('have the same values by name as by number', () => {
    const database = new DatabaseSync(':memory:');
    const text = 'SELECT ?2 AS b, ?1 AS a, ?2 AS again';
    const prepared = database.prepare(text);
    const byName = withNames(prepared).all(1, 'two');
    assert.deepEqual({ ...(byName[0] as object) }, { b: 'two', a: 1, again: 'two' });
    assert.deepEqual(byName, prepared.all(1, 'two'));
    assert.equal(withNames(database.prepare('SELECT 1')).all().length, 1);
    database.exec('CREATE TABLE t (a INTEGER)');
    const insert = withNames(database.prepare('INSERT INTO t VALUES (?1), (?1)'));
    assert.equal(insert.run(7).changes, 2);
  });

  test('are passed by name only if a database refuses them by number', () => {
    assert.equal(takesOnlyNames(new DatabaseSync(':memory:')), false);
    const refuse = () => {
      throw new Error('column index out of range');
    };
    assert.equal(takesOnlyNames({ prepare: () => ({ get: refuse }) } as never), true);
  });
});
