/** Checks that an added provider implements the port, before any task depends on it. */
import { Failure } from '../../kernel/failure/failure.ts';
import {
  aFunction,
  aName,
  checkPort,
  isText,
  type MemberChecks,
  oneOf,
  orAbsent,
  wholeNumber,
} from '../../kernel/port-check.ts';
import type { BatchProvider } from './batch-provider.ts';

const checks: MemberChecks<BatchProvider> = {
  // Tasks name their providers in one text, separated by commas.
  name: aName,
  taskTypes: [
    'a list of at least one text',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  ],
  split: oneOf('together', 'source', 'model', 'source_and_model'),
  merge: oneOf('flat', 'by_model'),
  recognizedBy: oneOf('token', 'list', 'note', 'none'),
  find: aFunction,
  submit: aFunction,
  poll: aFunction,
  cancel: aFunction,
  check: orAbsent(aFunction),
  refuses: orAbsent(aFunction),
  models: orAbsent(['a regular expression', (value) => value instanceof RegExp]),
  modelsMax: orAbsent(wholeNumber(0)),
  url: orAbsent(['an address', (value) => isText(value) && URL.canParse(String(value))]),
  hourPrice: orAbsent(['an object with batch and normal, in cents', isHourPrice]),
};

function isHourPrice(value: unknown): boolean {
  const { batch, normal } = (value ?? {}) as Record<string, unknown>;
  return [batch, normal].every((price) => typeof price === 'number' && price >= 0);
}

/** Returns the typed provider, or throws with all defects. `from`: who added it. */
export function checkProvider(value: unknown, from: string): BatchProvider {
  return checkPort(value, checks, { from, what: 'batch provider' });
}

/** Two with the same name would share tasks that only one of them has submitted. */
export function checkNames(providers: readonly BatchProvider[]): readonly BatchProvider[] {
  const seen = new Set<string>();
  for (const { name } of providers) {
    if (seen.has(name)) {
      const message = `there are two batch providers ${name}: give one of them another name`;
      throw new Failure('usage_error', message);
    }
    seen.add(name);
  }
  return providers;
}
