/** The names of the contract under those of the library. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type, { type Static } from 'typebox';
import { type Camelize, camelize } from './camel.ts';

const Inner = Type.Object({ start_offset: Type.Integer(), user_data: Type.Unknown() });
const Shown = Type.Object({
  job_id: Type.String(),
  last_error_code: Type.Union([Type.String(), Type.Null()]),
  parts: Type.Array(Inner),
  maybe_part: Type.Union([Inner, Type.Null()]),
  user_metadata: Type.Record(Type.String(), Type.Unknown()),
  by_name: Type.Record(Type.String(), Inner),
  is_optional: Type.Optional(Type.Boolean()),
});
type Shown = Static<typeof Shown>;

const inner = { start_offset: 1, user_data: { keep_me: { and_me: 1 } } };
const renamed = { startOffset: 1, userData: { keep_me: { and_me: 1 } } };
const shown: Shown = {
  job_id: 'a',
  last_error_code: null,
  parts: [inner],
  maybe_part: inner,
  user_metadata: { tenant_id: 't', nested_map: { a_b: 1 } },
  by_name: { some_name: inner },
};

describe('a value of the contract', () => {
  test('has camelCase names at every depth that its schema defines', () => {
    const camel: Camelize<Shown> = camelize(Shown, shown);
    // The type says the same as the value: these lines compile.
    const id: string = camel.jobId;
    const offset: number | undefined = camel.parts[0]?.startOffset;
    const tenant: unknown = camel.userMetadata.tenant_id;
    const flag: boolean | undefined = camel.isOptional;
    const named: number | undefined = camel.byName.some_name?.startOffset;
    assert.deepEqual(camel, {
      jobId: 'a',
      lastErrorCode: null,
      parts: [renamed],
      maybePart: renamed,
      userMetadata: { tenant_id: 't', nested_map: { a_b: 1 } },
      byName: { some_name: renamed },
    });
    assert.deepEqual([id, offset, tenant, named, flag], ['a', 1, 't', 1, undefined]);
  });

  test('keeps the keys of records and everything of an unknown form', () => {
    const { userMetadata, parts } = camelize(Shown, shown);
    assert.deepEqual(Object.keys(userMetadata), ['tenant_id', 'nested_map']);
    assert.deepEqual(parts[0]?.userData, { keep_me: { and_me: 1 } });
  });

  test('is null where a union allows it, and keeps fields that its schema does not define', () => {
    const { maybePart } = camelize(Shown, { ...shown, maybe_part: null });
    assert.equal(maybePart, null);
    const wider = { ...inner, not_defined: 1 } as typeof inner;
    assert.deepEqual(camelize(Inner, wider), { ...renamed, not_defined: 1 });
  });
});
