/**
 * Finds the reason why a value does not match its schema. The library examines the whole value for
 * this, which takes seconds for a value with a million parts. So the position is narrowed down
 * first: too many entries are reported by their number, a wrong entry is found by the check that
 * stops there, and only that entry is examined in detail.
 */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { limits } from '../kernel/limits/limits.ts';

export interface Wrong {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

export interface Checker {
  check(value: unknown): boolean;
  errors(value: unknown): readonly Wrong[];
}

interface Described {
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: unknown;
  readonly maxItems?: number;
}

/** `typebox/compile` can do more, and loads three times as many modules. */
export function checkerFor(schema: TSchema): Checker {
  const validator = Compile(schema);
  return {
    check: (value) => validator.Check(value),
    errors: (value) => validator.Errors(value)[1],
  };
}

export function wrongIn(schema: TSchema, value: unknown, checker: Checker): Wrong {
  const found = wrongPart(schema, value, '');
  if (found) return found;
  const { wrongValuesMax } = limits.request;
  // The list entries are valid, so a few of them are enough.
  const short = withShortLists(value);
  if (countParts(short, wrongValuesMax) > wrongValuesMax) {
    return wrongAt('', 'does not fit its schema');
  }
  return worstOf(checker.errors(short));
}

function withShortLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    Array.isArray(each) ? each.slice(0, limits.request.wrongEntriesMax) : each,
  ]);
  return Object.fromEntries(entries);
}

/** Undefined if no part is too large to examine as a whole. */
function wrongPart(schema: TSchema, value: unknown, path: string): Wrong | undefined {
  if (Array.isArray(value)) return wrongEntry(schema, value, path);
  if (typeof value !== 'object' || value === null) return undefined;
  const { properties = {}, additionalProperties } = schema as Described;
  for (const key in value) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const at = `${path}/${key}`;
    if (property) {
      const wrong = wrongPart(property, (value as Record<string, unknown>)[key], at);
      if (wrong) return wrong;
    } else if (additionalProperties === false) return wrongAt(at, 'is not a known field');
  }
  return undefined;
}

function wrongEntry(schema: TSchema, value: unknown[], path: string): Wrong | undefined {
  const { items, maxItems = Number.POSITIVE_INFINITY } = schema as Described;
  if (value.length > maxItems) return wrongAt(path, `must not have more than ${maxItems} items`);
  if (!items) return undefined;
  const checker = checkerFor(items);
  const index = value.findIndex((entry) => !checker.check(entry));
  if (index < 0) return undefined;
  const wrong = wrongIn(items, value[index], checker);
  return { ...wrong, instancePath: `${path}/${index}${wrong.instancePath}` };
}

/** An unknown field is reported before the errors that it causes in its parent. */
function worstOf(errors: readonly Wrong[]): Wrong {
  const wrong = errors.find(({ keyword }) => keyword !== 'additionalProperties') ?? errors[0];
  return wrong ?? wrongAt('', 'is wrong');
}

function wrongAt(instancePath: string, message: string): Wrong {
  return { keyword: '', instancePath, params: {}, message };
}

/** The parts of a value, recursively, up to a maximum. */
function countParts(value: unknown, max: number): number {
  let count = 0;
  const open = [value];
  while (open.length > 0 && count <= max) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const key in next) {
      count += 1;
      if (count > max) break;
      open.push((next as Record<string, unknown>)[key]);
    }
  }
  return count;
}
