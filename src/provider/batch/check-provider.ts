/** Checks that an added provider implements the port, before any task depends on it. */
import { Failure } from '../../kernel/failure/failure.ts';
import type { BatchProvider } from './batch-provider.ts';

type Check = readonly [rule: string, isKept: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const aFunction: Check = ['a function', (value) => typeof value === 'function'];
const oneOf = (...words: readonly string[]): Check => [
  `one of ${words.join(', ')}`,
  (value) => words.some((word) => word === value),
];
const orAbsent = ([rule, isKept]: Check): Check => [
  `absent, or ${rule}`,
  (value) => value === undefined || isKept(value),
];

const checks: Readonly<Record<keyof BatchProvider, Check>> = {
  // Tasks name their providers in one text, separated by commas.
  name: [
    'letters, digits, - and _, at most 64 of them',
    (value) => isText(value) && /^[\w-]{1,64}$/.test(String(value)),
  ],
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
  modelsMax: orAbsent([
    'a whole number from 0',
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  ]),
  url: orAbsent(['an address', (value) => isText(value) && URL.canParse(String(value))]),
  hourPrice: orAbsent(['an object with batch and normal, in cents', isHourPrice]),
};

function isHourPrice(value: unknown): boolean {
  const { batch, normal } = (value ?? {}) as Record<string, unknown>;
  return [batch, normal].every((price) => typeof price === 'number' && price >= 0);
}

/** Returns the typed provider, or throws with all defects. `from`: who added it. */
export function checkProvider(value: unknown, from: string): BatchProvider {
  if (!(value instanceof Object)) {
    throw new Failure('usage_error', `${from} is no batch provider: it must be an object`);
  }
  const given = value as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(checks).flatMap(([name, [rule, isKept]]) =>
    isKept(given[name]) ? [] : [`${name} must be ${rule}`],
  );
  if (wrong.length === 0) return value as BatchProvider;
  throw new Failure('usage_error', `${from} is no batch provider: ${wrong.join('; ')}`);
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
