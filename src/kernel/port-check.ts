/**
 * Checks that an object which a user plugs in has the members of its port, before anything depends
 * on it. The message lists every wrong member.
 */
import { Failure } from './failure/failure.ts';

export type MemberCheck = readonly [rule: string, isKept: (value: unknown) => boolean];

/** One check for each member: a member that the port gains cannot be forgotten. */
export type MemberChecks<Port> = Readonly<Record<keyof Port, MemberCheck>>;

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

export const aFunction: MemberCheck = ['a function', (value) => typeof value === 'function'];

export const oneOf = (...words: readonly string[]): MemberCheck => [
  `one of ${words.join(', ')}`,
  (value) => words.some((word) => word === value),
];

export const orAbsent = ([rule, isKept]: MemberCheck): MemberCheck => [
  `absent, or ${rule}`,
  (value) => value === undefined || isKept(value),
];

export function wholeNumber(from: number, to = Number.MAX_SAFE_INTEGER): MemberCheck {
  const rule = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
  const isKept = (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to;
  return [`a whole number ${rule}`, isKept];
}

export const aPrice: MemberCheck = [
  'a number from 0',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
];

/** Names are shown in tables and stored with documents. */
export const aName: MemberCheck = [
  'letters, digits, - and _, at most 64 of them',
  (value) => isText(value) && /^[\w-]{1,64}$/.test(String(value)),
];

/**
 * Returns the typed port, or throws with all defects. `from` says who added it, `what` which port
 * it should be.
 */
export function checkPort<Port>(
  value: unknown,
  checks: Readonly<Record<string, MemberCheck>>,
  { from, what }: { readonly from: string; readonly what: string },
): Port {
  if (!(value instanceof Object)) {
    throw new Failure('usage_error', `${from} is no ${what}: it must be an object`);
  }
  const given = value as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(checks).flatMap(([name, [rule, isKept]]) =>
    isKept(given[name]) ? [] : [`${name} must be ${rule}`],
  );
  if (wrong.length === 0) return value as Port;
  throw new Failure('usage_error', `${from} is no ${what}: ${wrong.join('; ')}`);
}
