/** Every operation is documented, and every example is valid. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { contract, type Route } from '../contract.ts';
import { openApiDocument } from '../openapi.ts';
import { fieldDescriptions } from './fields.ts';
import { groupDescriptions } from './groups.ts';
import { type Manual, manual } from './manual.ts';

interface Shown {
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Shown>>;
  readonly items?: Shown;
  readonly anyOf?: readonly Shown[];
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, Content>> }>>;
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly example?: unknown;
}

interface Content {
  readonly schema: Shown;
  readonly example?: unknown;
}

const page = openApiDocument() as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { name: string; description?: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, Shown>> };
};
const operations = Object.entries(page.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** The fields of a request that have no description, by path. */
function undescribed(schema: Shown, at: string): string[] {
  const { $ref, properties = {}, items, anyOf = [] } = schema;
  if ($ref) return undescribed(page.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, at);
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(field.description ? [] : [`${at}.${name}`]),
      ...undescribed(field, `${at}.${name}`),
    ]),
    ...(items ? undescribed(items, at) : []),
    ...anyOf.flatMap((part) => undescribed(part, at)),
  ];
}

const parts = ['params', 'query', 'headers', 'body', 'form', 'answer'] as const;

/** What is wrong with the examples of a route. */
function wrongExamples(name: string, route: Route, example: Manual): string[] {
  return parts.flatMap((part) => {
    const schema: TSchema | undefined = route[part];
    const value = example[part];
    if (!schema) return value === undefined ? [] : [`${name} has no ${part}`];
    if (value === undefined) return [`${name} has no example of its ${part}`];
    const checker = Compile(schema);
    if (checker.Check(value)) return [];
    const [wrong] = checker.Errors(value);
    return [`${name}: ${part}${wrong?.instancePath} ${wrong?.message}`];
  });
}

describe('the manual of the contract', () => {
  test('has an entry for every operation, and no other', () => {
    assert.deepEqual(Object.keys(manual).sort(), Object.keys(contract).sort());
  });

  test('describes every operation in sentences', () => {
    for (const [name, { description }] of Object.entries(manual)) {
      assert.match(description, /^[A-Z][\s\S]{20,}\.$/, `${name}: write what the call does`);
    }
  });

  test('has examples that fit the schemas of their routes', () => {
    const wrong = Object.entries(contract).flatMap(([name, route]) => {
      const example = manual[name];
      return example ? wrongExamples(name, route, example) : [];
    });
    assert.deepEqual(wrong, []);
  });

  test('describes fields that exist', () => {
    const named = JSON.stringify(page);
    const unused = Object.keys(fieldDescriptions).filter((key) => {
      const field = key.split(/[./:]/).at(-1) ?? '';
      return !named.includes(`"${field}"`);
    });
    assert.deepEqual(unused, []);
  });
});

describe('the OpenAPI document', () => {
  test('has a unique id, a summary, a description and a known tag for each operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, method, operation } of operations) {
      assert.ok(operation.summary, `${method} ${path}`);
      assert.ok(operation.description, `${method} ${path}`);
      for (const tag of operation.tags) assert.ok(groupDescriptions[tag], tag);
    }
    assert.ok(page.tags.every(({ description }) => description));
  });

  test('describes every parameter, with an example of each required one', () => {
    const wrong = operations.flatMap(({ path, method, operation }) =>
      (operation.parameters ?? [])
        .filter(({ description, required, example }) => !description || (required && !example))
        .map(({ name }) => `${method} ${path}: ${name}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('describes every field of every request body', () => {
    const wrong = operations.flatMap(({ path, method, operation }) =>
      Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
        undescribed(schema, `${method} ${path}`),
      ),
    );
    assert.deepEqual(wrong, []);
  });

  test('has an example of each request body and of each successful response', () => {
    for (const { path, method, operation } of operations) {
      for (const { example } of Object.values(operation.requestBody?.content ?? {})) {
        assert.notEqual(example, undefined, `${method} ${path}`);
      }
      const [, answer] = Object.entries(operation.responses).find(([status]) => status < '3') ?? [];
      for (const { example } of Object.values(answer?.content ?? {})) {
        assert.notEqual(example, undefined, `${method} ${path}`);
      }
    }
  });

  test('refers to schemas that exist', () => {
    const references = JSON.stringify(page).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, name = ''] of references) assert.ok(page.components.schemas[name], name);
  });
});
