/** The contract as an OpenAPI 3.1 document. */

import type { TSchema } from 'typebox';
import { type FailureCode, failures } from '../kernel/failure/failure.ts';
import { contract, type Route } from './contract.ts';
import { described, describeField, describeParameter, ownDescription } from './manual/describe.ts';
import { groupDescriptions } from './manual/groups.ts';
import { type Manual, manual } from './manual/manual.ts';
import { BatchTask, NewBatchTask } from './operation/batch.ts';
import { EmbeddedTexts, FoundEntities, ScrapedPage } from './operation/callbacks.ts';
import * as schema from './schema/schema.ts';
import * as source from './schema/source.ts';
import { isBodyNeeded } from './validation.ts';

/** Schemas with their own name in the document. */
const named: Readonly<Record<string, TSchema>> = {
  ScrapedPage,
  EmbeddedTexts,
  FoundEntities,
  NewJob: schema.NewJob,
  AcceptedJob: schema.AcceptedJob,
  Job: schema.Job,
  JobDetail: schema.JobDetail,
  CancelReceipt: schema.CancelReceipt,
  JobMoved: schema.JobMoved,
  Delivery: schema.Delivery,
  Item: schema.Item,
  Event: schema.Event,
  Events: schema.Events,
  Cause: schema.Cause,
  Inbox: schema.Inbox,
  Chosen: schema.Chosen,
  Corpus: schema.Corpus,
  CorpusDetail: schema.CorpusDetail,
  Document: schema.Document,
  Chunk: schema.Chunk,
  Entity: schema.Entity,
  DocumentEntity: schema.DocumentEntity,
  RelatedEntity: schema.RelatedEntity,
  Search: schema.Search,
  Found: schema.Found,
  Hit: schema.Hit,
  Why: schema.Why,
  NewSyncSource: source.NewSyncSource,
  SyncSource: source.SyncSource,
  SyncRun: source.SyncRun,
  SyncChange: source.SyncChange,
  RemovedDocument: source.RemovedDocument,
  Ready: schema.Ready,
  NewBatchTask,
  BatchTask,
  Problem: schema.Problem,
};

const names = new Map<object, string>(Object.entries(named).map(([name, each]) => [each, name]));

export function openApiDocument(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries(contract)) {
    const [method = '', path = ''] = name.split(' ');
    const templated = path.replace(/:(\w+)/g, '{$1}');
    paths[templated] = { ...paths[templated], [method.toLowerCase()]: operationOf(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pawl',
      version: '1',
      description: 'Turns documents into a searchable corpus, one committed step at a time.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/v1', description: 'Version 1. Use these paths in programs.' },
      { url: '/', description: 'The same paths without a version, which stay as they are.' },
    ],
    tags: [...new Set(Object.values(contract).map(({ group }) => group))].map((name) => ({
      name,
      description: groupDescriptions[name],
    })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, value]) => [name, definitionOf(name, value)]),
      ),
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

function operationOf(name: string, route: Route) {
  const example = manual[name];
  const parameters = [
    ...parametersOf({ name, part: route.params, place: 'path', given: example?.params }),
    ...parametersOf({ name, part: route.query, place: 'query', given: example?.query }),
    ...parametersOf({ name, part: route.headers, place: 'header', given: example?.headers }),
  ];
  return {
    tags: [route.group],
    operationId: operationIdOf(name),
    summary: route.summary,
    ...(example && { description: example.description }),
    security: route.isOpen ? [] : [{ key: [] }, { bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(name, route, example),
    responses: { [route.status]: answerOf(name, route, example), ...failuresOf(route) },
  };
}

/** `GET /jobs/:id/items` is `getJobsByIdItems`. */
function operationIdOf(name: string): string {
  const [method = '', path = ''] = name.split(' ');
  const words = path.split(/[/.]/).filter(Boolean);
  const capital = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`;
  const parts = words.map((word) =>
    word.startsWith(':') ? `By${capital(word.slice(1))}` : capital(word),
  );
  return `${method.toLowerCase()}${parts.join('')}`;
}

interface Part {
  readonly name: string;
  readonly part: TSchema | undefined;
  readonly place: 'path' | 'query' | 'header';
  readonly given: Readonly<Record<string, unknown>> | undefined;
}

function parametersOf({ name: route, part, place, given = {} }: Part) {
  const { properties = {}, required = [] } = (part ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, value]) => {
    const known = place === 'path' ? describeParameter(route, name) : describeField(name, route);
    const description = ownDescription(value) ?? known;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: shown(value, route),
      ...(given[name] !== undefined && { example: given[name] }),
    };
  });
}

function bodyOf(name: string, { body, takes, form }: Route, example: Manual | undefined) {
  if (takes && form) {
    const content = { schema: shown(form, name), ...exampleOf(example?.form) };
    return { requestBody: { required: true, content: { [takes]: content } } };
  }
  if (!body) return {};
  const content = { schema: shown(body, name), ...exampleOf(example?.body) };
  const required = isBodyNeeded(body);
  return { requestBody: { required, content: { 'application/json': content } } };
}

function answerOf(name: string, { answer, media, summary }: Route, example: Manual | undefined) {
  const content = { schema: shown(answer, name), ...exampleOf(example?.answer) };
  return { description: summary, content: { [media ?? 'application/json']: content } };
}

function exampleOf(example: unknown): { example?: unknown } {
  return example === undefined ? {} : { example };
}

/** One response per status, with its possible failure codes. */
function failuresOf(route: Route) {
  const counted: FailureCode[] = route.isInternal ? [] : ['rate_limit_hit'];
  const keyed: FailureCode[] = route.isOpen ? [] : ['unauthorized', ...counted];
  const general = [...keyed, ...failuresOfParts(route)];
  const byStatus = new Map<number, FailureCode[]>();
  for (const code of new Set([...route.failures, ...general])) {
    const { httpStatus } = failures[code];
    byStatus.set(httpStatus, [...(byStatus.get(httpStatus) ?? []), code]);
  }
  const content = {
    'application/problem+json': { schema: shown(schema.Problem, 'Problem') },
  };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, { description: codes.join(', '), content }]),
  );
}

/** What every route that has such parts can answer. */
function failuresOfParts({ params, query, headers, body, takes }: Route): FailureCode[] {
  const hasBody = body !== undefined || takes !== undefined;
  const hasAny = hasBody || params !== undefined || query !== undefined || headers !== undefined;
  return [
    ...(hasAny ? (['bad_request'] as const) : []),
    ...(headers === undefined ? [] : (['headers_too_large'] as const)),
    ...(hasBody ? (['payload_too_large', 'content_type_unsupported'] as const) : []),
  ];
}

/** Named schemas are shown as references. */
function shown(schema: unknown, place: string): unknown {
  return described(schema, place, (part) => names.get(part));
}

/** The definition of a named schema, which refers to others but not to itself. */
function definitionOf(name: string, schema: TSchema): unknown {
  return described({ ...schema }, name, (part) => names.get(part));
}
