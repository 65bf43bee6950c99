/** Adds a description to every field of a JSON Schema that has none. */
import { fieldDescriptions } from './fields.ts';

/** The description of a field in its place, if there is one. */
export function describeField(field: string, place: string): string | undefined {
  return fieldDescriptions[`${place}.${field}`] ?? fieldDescriptions[field];
}

/** The description of `id` in `GET /jobs/:id/items` has the key `/jobs/:id`. */
export function describeParameter(route: string, name: string): string | undefined {
  const segments = route.split('/');
  const before = segments[segments.indexOf(`:${name}`) - 1];
  return fieldDescriptions[`/${before}/:${name}`];
}

/** A schema that may be null carries the description of its other part. */
export function ownDescription(schema: unknown): string | undefined {
  const { description, anyOf = [] } = (schema ?? {}) as {
    description?: string;
    anyOf?: readonly { description?: string }[];
  };
  return description ?? anyOf.find((part) => part.description !== undefined)?.description;
}

/** The name of a schema that is shown as a reference. */
export type Refer = (schema: object) => string | undefined;

/**
 * A copy as plain JSON Schema, in which every known field is described. The place is what the
 * schema belongs to: its own name, a route, or the field that contains it.
 */
export function described(schema: unknown, place: string, refer: Refer = () => undefined): unknown {
  if (Array.isArray(schema)) return schema.map((each) => described(each, place, refer));
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = refer(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'properties' ? describedFields(value, place, refer) : described(value, place, refer),
  ]);
  return Object.fromEntries(entries);
}

function describedFields(fields: object, place: string, refer: Refer): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, schema]) => {
    const description = ownDescription(schema) ?? describeField(name, place);
    const copy = described(schema, name, refer) as Record<string, unknown>;
    return [name, description === undefined ? copy : { ...copy, description }];
  });
  return Object.fromEntries(entries);
}
