/**
 * The JSON form of conditions:
 *
 *   { "team": "ops", "year": { "$gte": 2025 }, "$not": { "tags": { "$in": ["draft", "old"] } } }
 *
 * A member is a key with its value or its operators, or one of `$and`, `$or` and `$not`. All
 * members of an object must hold.
 */
import { Failure } from '../failure/failure.ts';
import { limits } from '../limits/limits.ts';
import { closestOf } from '../text/closest-name.ts';
import type { Condition, Scalar, Where } from './where.ts';

const operators = {
  $eq: '=',
  $ne: '!=',
  $lt: '<',
  $lte: '<=',
  $gt: '>',
  $gte: '>=',
  $in: 'in',
  $nin: 'in',
  $exists: 'exists',
} as const;
const joins = ['$and', '$or', '$not'];

type Operator = keyof typeof operators;

/** Throws `bad_request` with the place of what is wrong, such as `where.$or[1].year`. */
export function readWhereJson(given: unknown): Where {
  return readObject(given, 'where', 1);
}

function readObject(given: unknown, at: string, depth: number): Where {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refused(at, 'must be an object, such as {"team": "ops"}');
  }
  if (depth > limits.metadata.whereDepthMax) {
    throw refused(at, `is nested more than ${limits.metadata.whereDepthMax} deep`);
  }
  const members = Object.entries(given);
  if (members.length === 0) throw refused(at, 'is empty: name a key, such as {"team": "ops"}');
  return all(members.map(([name, value]) => readMember(name, value, { at, depth })));
}

interface Place {
  readonly at: string;
  readonly depth: number;
}

function readMember(name: string, value: unknown, { at, depth }: Place): Where {
  const inner = `${at}.${name}`;
  if (name === '$not') return { not: readObject(value, inner, depth + 1) };
  if (name === '$and' || name === '$or') {
    if (!Array.isArray(value) || value.length === 0) {
      throw refused(inner, 'must be a list with at least one object');
    }
    const parts = value.map((part, index) => readObject(part, `${inner}[${index}]`, depth + 1));
    return name === '$and' ? all(parts) : { or: parts };
  }
  if (name.startsWith('$')) {
    const hint = Object.hasOwn(operators, name)
      ? `belongs to a key, as in {"year": {"${name}": …}}`
      : undefined;
    throw refused(inner, hint ?? unknown(name, joins));
  }
  return readKey(name, value, inner);
}

function readKey(key: string, value: unknown, at: string): Where {
  if (!limits.metadata.keyPattern.test(key)) throw refused(at, 'is not a possible key');
  if (isScalar(value)) return { key, op: '=', values: [value] };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refused(at, 'must be a string, a number, true, false, or operators as in {"$gte": 2025}');
  }
  const members = Object.entries(value);
  if (members.length === 0) throw refused(at, 'has no operator: use {"$eq": …}');
  return all(members.map(([name, operand]) => readOperator(key, name, { operand, at })));
}

function readOperator(
  key: string,
  name: string,
  { operand, at }: { readonly operand: unknown; readonly at: string },
): Where {
  const inner = `${at}.${name}`;
  if (!Object.hasOwn(operators, name)) throw refused(inner, unknown(name, Object.keys(operators)));
  const op = operators[name as Operator];
  if (op === 'exists') {
    if (typeof operand !== 'boolean') throw refused(inner, 'must be true or false');
    const condition: Condition = { key, op, values: [] };
    return operand ? condition : { not: condition };
  }
  if (op === 'in') {
    const condition: Condition = { key, op, values: readList(operand, inner) };
    return name === '$nin' ? { not: condition } : condition;
  }
  if (!isScalar(operand)) throw refused(inner, 'must be a string, a number, true or false');
  if (typeof operand === 'boolean' && op !== '=' && op !== '!=') {
    throw refused(inner, 'compares numbers or strings; true and false have no order');
  }
  return { key, op, values: [operand] };
}

function readList(operand: unknown, at: string): Scalar[] {
  if (!Array.isArray(operand) || operand.length === 0 || !operand.every(isScalar)) {
    throw refused(at, 'must be a list of strings, numbers, true or false');
  }
  const { whereValuesMax } = limits.metadata;
  if (operand.length <= whereValuesMax) return operand;
  throw refused(at, `has ${operand.length} values; use up to ${whereValuesMax}`);
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

function all(parts: readonly Where[]): Where {
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0 ? only : { and: parts };
}

function unknown(name: string, known: readonly string[]): string {
  return `is not an operator; the closest one is ${closestOf(name, known)}`;
}

function refused(at: string, reason: string): Failure {
  return new Failure('bad_request', `${at} ${reason}`);
}
