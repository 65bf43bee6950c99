/** Fields that a language model has no use for. They would only fill its context. */

const noise: ReadonlySet<string> = new Set([
  'highlights',
  'query_ms',
  'blob_key',
  'content_hash',
  'fingerprint',
  'lease',
  'working',
  'reached',
  'counters',
  'tokens_unpriced',
  'tokens_saved',
  'saved_cents',
  'start_offset',
  'end_offset',
]);

/** Their keys belong to the user. */
const kept: ReadonlySet<string> = new Set(['metadata', 'meta', 'detail', 'context']);

/** A copy of a response without these fields. */
export function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !noise.has(name));
  return Object.fromEntries(
    fields.map(([name, each]) => [name, kept.has(name) ? each : withoutNoise(each)]),
  );
}

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The schema of such a response. */
export function schemaWithoutNoise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(schemaWithoutNoise);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, required, ...rest } = schema as Schema;
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, each]) => [key, schemaWithoutNoise(each)]),
  );
  if (!properties) return required ? { ...plain, required } : plain;
  const fields = Object.entries(properties).filter(([name]) => !noise.has(name));
  return {
    ...plain,
    properties: Object.fromEntries(fields.map(([name, each]) => [name, schemaWithoutNoise(each)])),
    ...(required && { required: required.filter((name) => !noise.has(name)) }),
  };
}
