/** The contract as an OpenAPI 3.1 document. */

import type { TSchema } from 'typebox';
import { type FailureCode, failures } from '../kernel/failure/failure.ts';
import { contract, type Route } from './contract.ts';
import { BatchTask, NewBatchTask } from './operation/batch.ts';
import { EmbeddedTexts, FoundEntities, ScrapedPage } from './operation/callbacks.ts';
import * as schema from './schema/schema.ts';
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
  Ready: schema.Ready,
  NewBatchTask,
  BatchTask,
  Problem: schema.Problem,
};

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
    servers: [{ url: '/' }],
    tags: [...new Set(Object.values(contract).map(({ group }) => group))].map((tag) => ({
      name: tag,
    })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, value]) => [name, shown(value, { isTop: true })]),
      ),
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
  };
}

function operationOf(name: string, route: Route) {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ];
  return {
    tags: [route.group],
    operationId: operationIdOf(name),
    summary: route.summary,
    security: route.isOpen ? [] : [{ key: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(route),
    responses: { [route.status]: answerOf(route), ...failuresOf(route) },
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

function parametersOf(part: TSchema | undefined, place: 'path' | 'query' | 'header') {
  const { properties = {}, required = [] } = (part ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, value]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: shown(value),
  }));
}

function bodyOf({ body, takes, form, example }: Route) {
  if (takes && form) {
    return { requestBody: { required: true, content: { [takes]: { schema: shown(form) } } } };
  }
  if (!body) return {};
  const content = { schema: shown(body), ...(example !== undefined && { example }) };
  const required = isBodyNeeded(body);
  return { requestBody: { required, content: { 'application/json': content } } };
}

function answerOf({ answer, media, summary }: Route) {
  const content = { [media ?? 'application/json']: { schema: shown(answer) } };
  return { description: summary, content };
}

/** One response per status, with its possible failure codes. */
function failuresOf(route: Route) {
  const counted: FailureCode[] = route.isInternal ? [] : ['rate_limit_hit'];
  const general: FailureCode[] = route.isOpen ? [] : ['unauthorized', ...counted];
  const byStatus = new Map<number, FailureCode[]>();
  for (const code of [...route.failures, ...general]) {
    const { httpStatus } = failures[code];
    byStatus.set(httpStatus, [...(byStatus.get(httpStatus) ?? []), code]);
  }
  const content = { 'application/problem+json': { schema: shown(schema.Problem) } };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, { description: codes.join(', '), content }]),
  );
}

/** Plain JSON schema, with references to the named schemas. */
function shown(value: unknown, { isTop = false } = {}): unknown {
  if (Array.isArray(value)) return value.map((each) => shown(each));
  if (typeof value !== 'object' || value === null) return value;
  const found = isTop ? undefined : Object.entries(named).find(([, each]) => each === value);
  if (found) return { $ref: `#/components/schemas/${found[0]}` };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
}
