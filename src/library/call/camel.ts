/**
 * One mapping between the contract's names (snake_case) and the library's (camelCase), for types
 * and for values. The schema decides: only the fields that it defines are renamed. The keys of a
 * record (metadata, context, the detail of an event) belong to users and stay as they are.
 */
import type { TSchema } from 'typebox';

export type CamelKey<Key> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelKey<Rest> & string>}`
  : Key;

export type Camelize<Value> = Value extends readonly (infer Entry)[]
  ? readonly Camelize<Entry>[]
  : Value extends object
    ? string extends keyof Value
      ? { readonly [Key in keyof Value]: Camelize<Value[Key]> }
      : { readonly [Key in keyof Value as CamelKey<Key>]: Camelize<Value[Key]> }
    : Value;

/** The parts of a JSON schema that say where fields are. */
export interface Described {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly additionalProperties?: unknown;
}

export function camelKey(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A value of the contract under the names of the library. */
export function camelize<Value>(schema: TSchema, value: Value): Camelize<Value> {
  return renamed(schema, value) as Camelize<Value>;
}

function renamed(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const described = branchOf(schema, value);
  if (Array.isArray(value)) {
    const { items } = described;
    return items ? value.map((entry) => renamed(items, entry)) : value;
  }
  const { properties = {}, patternProperties = {} } = described;
  const [ofRecord] = Object.values(patternProperties);
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property) return [camelKey(key), renamed(property, each)];
    return [key, ofRecord ? renamed(ofRecord, each) : each];
  });
  return Object.fromEntries(entries);
}

/** Of a union, the branch for a list, or the one whose required fields the value has. */
export function branchOf(schema: TSchema, value: object): Described {
  const described = schema as Described;
  if (!described.anyOf) return described;
  const branches = described.anyOf as readonly Described[];
  const found = branches.find(({ type, required = [] }) =>
    Array.isArray(value)
      ? type === 'array'
      : type === 'object' && required.every((name) => Object.hasOwn(value, name)),
  );
  return found ?? {};
}
