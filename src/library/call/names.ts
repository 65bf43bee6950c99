/** Refuses unknown names in options, with the closest known one. */

import { Failure } from '../../kernel/failure/failure.ts';
import { closestOf } from '../../kernel/text/closest-name.ts';

/**
 * From JavaScript, a misspelt option would be ignored without an error: a search would run without
 * its filter.
 */
export function checkNames(what: string, given: unknown, known: readonly string[]): void {
  for (const name of Object.keys(checkObject(what, given))) {
    if (!known.includes(name)) throw unknownName(what, name, known);
  }
}

export function unknownName(what: string, name: string, known: readonly string[]): Failure {
  const closest = closestOf(name, known);
  const message = `${name} is not an option of ${what}; the closest one is ${closest}`;
  return new Failure('bad_request', message, { context: { option: name } });
}

export function checkObject(what: string, given: unknown): object {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given;
  const found = given === null ? 'null' : Array.isArray(given) ? 'a list' : typeof given;
  throw new Failure('bad_request', `the options of ${what} are an object, not ${found}`);
}
