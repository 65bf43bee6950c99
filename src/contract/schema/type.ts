/**
 * The builders of TypeBox that the contract uses, under its names and types. TypeBox consists of
 * 370 modules, and every command that opens a store would load them. A test compares the schemas.
 */
import type * as typebox from 'typebox';

type Builders = Pick<
  typeof typebox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

type Schema = Readonly<Record<string, unknown>>;

const builders = {
  Array: (items: Schema, options?: Schema) => made('Array', { type: 'array', items }, options),
  Boolean: (options?: Schema) => made('Boolean', { type: 'boolean' }, options),
  Integer: (options?: Schema) => made('Integer', { type: 'integer' }, options),
  Literal: (value: string | number | boolean, options?: Schema) =>
    made('Literal', { type: typeof value, const: value }, options),
  Null: (options?: Schema) => made('Null', { type: 'null' }, options),
  Number: (options?: Schema) => made('Number', { type: 'number' }, options),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => {
    const required = Object.keys(properties).filter((key) => !isOptional(properties[key]));
    const fields = required.length > 0 ? { required, properties } : { properties };
    return made('Object', { type: 'object', ...fields }, options);
  },
  Optional: (schema: Schema) => marked(schema, '~optional', true),
  /** The keys are any text. */
  Record: (_key: Schema, value: Schema, options?: Schema) =>
    made('Record', { type: 'object', patternProperties: { '^.*$': value } }, options),
  String: (options?: Schema) => made('String', { type: 'string' }, options),
  Union: (anyOf: readonly Schema[], options?: Schema) => made('Union', { anyOf }, options),
  Unknown: (options?: Schema) => made('Unknown', {}, options),
  Unsafe: (schema: Schema) => marked(schema, '~unsafe', null),
} satisfies Record<keyof Builders, unknown>;

export const Type = builders as unknown as Builders;

/** TypeBox hides what JSON Schema does not know from enumeration. */
function made(kind: string, fields: Schema, options: Schema = {}): Schema {
  return hide({ ...fields, ...options }, '~kind', kind);
}

function marked(schema: Schema, name: string, value: unknown): Schema {
  return hide(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), name, value);
}

function hide(schema: object, name: string, value: unknown): Schema {
  const hidden = { configurable: true, writable: true, enumerable: false, value };
  return Object.defineProperty(schema, name, hidden) as Schema;
}

function isOptional(schema: Schema | undefined): boolean {
  return schema !== undefined && '~optional' in schema;
}
