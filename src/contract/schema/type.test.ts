/** The builders of schemas make what those of TypeBox make. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as typebox from 'typebox';
import { contract } from '../contract.ts';
import { Type } from './type.ts';

type Builders = typeof Type;

const options = { description: 'what it is' };
const cases: Readonly<Record<keyof Builders, readonly ((build: Builders) => object)[]>> = {
  Array: [(b) => b.Array(b.String()), (b) => b.Array(b.Null(), { maxItems: 3 })],
  Boolean: [(b) => b.Boolean(), (b) => b.Boolean({ default: true })],
  Integer: [(b) => b.Integer(), (b) => b.Integer({ minimum: 1, maximum: 5 })],
  Literal: [(b) => b.Literal('own'), (b) => b.Literal(true, options), (b) => b.Literal(7)],
  Null: [(b) => b.Null(), (b) => b.Null(options)],
  Number: [(b) => b.Number(), (b) => b.Number({ exclusiveMinimum: 0 })],
  Object: [
    (b) => b.Object({}),
    (b) => b.Object({ name: b.String(), age: b.Optional(b.Integer()) }),
    (b) => b.Object({ age: b.Optional(b.Integer()) }, { additionalProperties: false, ...options }),
  ],
  Optional: [
    (b) => b.Optional(b.String(options)),
    (b) => b.Optional(b.Unsafe<string>({ type: ['string', 'null'] })),
    (b) => b.Optional(b.Optional(b.Object({ name: b.String() }))),
  ],
  Record: [
    (b) => b.Record(b.String(), b.Number()),
    (b) => b.Record(b.String({ maxLength: 64 }), b.Unknown(), { maxProperties: 16 }),
  ],
  String: [(b) => b.String(), (b) => b.String({ pattern: '^a', maxLength: 3 })],
  Union: [(b) => b.Union([b.String(), b.Null()]), (b) => b.Union([b.Literal('a')], options)],
  Unknown: [(b) => b.Unknown(), (b) => b.Unknown(options)],
  Unsafe: [
    (b) => b.Unsafe<string>({ enum: ['a'], ...options }),
    (b) => b.Unsafe<object>(b.Record(b.String(), b.Boolean(), options)),
  ],
};

/** With the hidden fields, which deepEqual ignores. */
function allOf(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(allOf);
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(schema));
  return Object.fromEntries(
    descriptors.map(([name, { value, ...rest }]) => [name, { ...rest, value: allOf(value) }]),
  );
}

describe('a schema is the same as one of TypeBox', () => {
  for (const [name, makes] of Object.entries(cases)) {
    test(name, () => {
      assert.ok(makes.length > 0);
      for (const make of makes) assert.deepEqual(allOf(make(Type)), allOf(make(typebox)));
    });
  }

  test('and says so for every part of the contract', () => {
    const routes = Object.values(contract) as readonly Readonly<Record<string, unknown>>[];
    const parts = routes.flatMap(({ params, query, body, answer }) => [
      params,
      query,
      body,
      answer,
    ]);
    const schemas = parts.filter((part) => part !== undefined);
    assert.ok(schemas.length > 100);
    for (const schema of schemas) assert.ok(typebox.IsSchema(schema), JSON.stringify(schema));
  });
});
