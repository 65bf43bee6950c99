/**
 * Statements with numbered parameters (`?1`), which may occur several times in a text. Up to Node
 * 22.19 and 24.6, `node:sqlite` takes the values of such parameters only by name.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Value } from './statement.ts';

export interface Runnable {
  all(...values: readonly Value[]): unknown[];
  run(...values: readonly Value[]): { readonly changes: number | bigint };
}

export function takesOnlyNames(database: DatabaseSync): boolean {
  try {
    database.prepare('SELECT ?1').get(1);
    return false;
  } catch {
    return true;
  }
}

export function withNames(statement: StatementSync): Runnable {
  return {
    all: (...values) => statement.all(named(values)),
    run: (...values) => statement.run(named(values)),
  };
}

function named(values: readonly Value[]): Record<string, Value> {
  return Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]));
}
