/**
 * Conditions on metadata. `=` and `in` match a list if one of its entries matches. Ranges compare
 * numbers by value and texts by code point. A condition on a key that a document does not have is
 * false, so `!=` and `not` match that document.
 */
import type { Metadata, MetadataValue } from './metadata.ts';

export const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const;
export type Comparison = (typeof comparisons)[number];
export type Scalar = string | number | boolean;

export interface Condition {
  readonly key: string;
  readonly op: Comparison | 'in' | 'exists';
  /** The operands: one for a comparison, any number for `in`, none for `exists`. */
  readonly values: readonly Scalar[];
}

export type Where =
  | Condition
  | { readonly and: readonly Where[] }
  | { readonly or: readonly Where[] }
  | { readonly not: Where };

export function matches(where: Where, metadata: Metadata): boolean {
  if ('and' in where) return where.and.every((part) => matches(part, metadata));
  if ('or' in where) return where.or.some((part) => matches(part, metadata));
  if ('not' in where) return !matches(where.not, metadata);
  const held = Object.hasOwn(metadata, where.key) ? scalarsOf(metadata[where.key]) : [];
  if (where.op === '!=') return !held.some((value) => value === where.values[0]);
  return held.some((value) => holds(where, value));
}

/** The conditions of an expression, from left to right. */
export function conditionsOf(where: Where): Condition[] {
  if ('and' in where) return where.and.flatMap(conditionsOf);
  if ('or' in where) return where.or.flatMap(conditionsOf);
  if ('not' in where) return conditionsOf(where.not);
  return [where];
}

export function scalarsOf(value: MetadataValue | undefined): readonly Scalar[] {
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

function holds({ op, values }: Condition, value: Scalar): boolean {
  if (op === 'exists') return true;
  if (op === '=' || op === 'in') return values.includes(value);
  const [bound] = values;
  if (typeof bound !== typeof value || bound === undefined) return false;
  const order = compare(value, bound);
  if (op === '<') return order < 0;
  if (op === '<=') return order <= 0;
  return op === '>' ? order > 0 : order >= 0;
}

function compare(one: Scalar, other: Scalar): number {
  if (one === other) return 0;
  if (typeof one !== 'string' || typeof other !== 'string') return one < other ? -1 : 1;
  return compareTexts(one, other);
}

/**
 * By code points, as the databases compare the bytes of UTF-8. The units of UTF-16 have another
 * order: a surrogate is below U+E000, and the character that it belongs to is above.
 */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [unit, otherUnit] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (unit !== otherUnit) return rankOf(unit) - rankOf(otherUnit);
  }
  return one.length - other.length;
}

function rankOf(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
