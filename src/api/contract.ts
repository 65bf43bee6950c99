/**
 * Every route, in one table. A key is the method and the path as a client writes them; a row says
 * what goes in, what comes out, and how it may fail. Handlers, checks, types, the typed client and
 * the OpenAPI document follow from it.
 */
import Type, { type Static, type TSchema } from 'typebox';
import type { FailureCode } from '../kernel/failure.ts';
import { job as jobMachine } from '../kernel/job.ts';
import { limits } from '../kernel/limits.ts';
import { stage as stageMachine } from '../kernel/stage.ts';
import { attemptContract } from './attempt-contract.ts';
import * as schema from './schema.ts';

export interface Route {
  readonly group: string;
  readonly summary: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly headers?: TSchema;
  readonly status: number;
  readonly answer: TSchema;
  /** What the answer is, where it is not JSON. */
  readonly media?: 'text/event-stream' | 'text/plain' | 'text/html';
  /** What comes in, where it is not JSON. */
  readonly takes?: 'multipart/form-data';
  /** The fields of what comes in, where it is a form. */
  readonly form?: TSchema;
  /** Needs no key, and is not counted. */
  readonly isOpen?: boolean;
  readonly failures: readonly FailureCode[];
  /** Shown in the documentation, and sent to a running server by a test. */
  readonly example?: unknown;
}

const byId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
const byName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) });
const after = Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));
const corpusName = Type.Optional(schema.CorpusName);
const query = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const eventPage = query({
  after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.event.pageMax })),
});
const streamQuery = query({ after });
const idempotencyKey = Type.Object({ 'idempotency-key': Type.Optional(Type.String()) });
const lastEventId = Type.Object({ 'last-event-id': Type.Optional(Type.String()) });

const jobs = {
  'POST /jobs': {
    group: 'Jobs',
    summary: 'Submit addresses, inline documents or a crawl',
    body: schema.NewJob,
    headers: idempotencyKey,
    status: 202,
    answer: schema.AcceptedJob,
    failures: [
      'bad_request',
      'invalid_url',
      'sources_empty',
      'too_many_sources',
      'payload_too_large',
      'idempotency_conflict',
      'queue_full',
    ],
    example: {
      corpus_name: 'handbook',
      documents: [{ id: 'welcome', title: 'Welcome', text: 'The workshop opens at nine.' }],
    },
  },
  'POST /jobs/upload': {
    group: 'Jobs',
    summary: 'Submit files: a field `corpus_name`, then any number of files',
    takes: 'multipart/form-data',
    form: Type.Object({
      corpus_name: schema.CorpusName,
      priority: Type.Optional(Type.Integer()),
      force: Type.Optional(Type.Boolean()),
      file: schema.Files,
    }),
    headers: idempotencyKey,
    status: 202,
    answer: schema.AcceptedJob,
    failures: ['bad_request', 'sources_empty', 'source_too_large', 'payload_too_large'],
  },
  'GET /jobs': {
    group: 'Jobs',
    summary: 'Your jobs, newest first',
    query: query({
      corpus_name: corpusName,
      status: Type.Optional(schema.oneOf(stageMachine.states)),
      state: Type.Optional(schema.oneOf(jobMachine.states)),
      failed_stage: Type.Optional(schema.oneOf(schema.stages)),
      ...schema.page,
    }),
    status: 200,
    answer: schema.pageOf(schema.Job),
    failures: ['bad_request'],
  },
  'GET /jobs/:id': {
    group: 'Jobs',
    summary: 'Where a job stands',
    params: byId,
    status: 200,
    answer: schema.JobDetail,
    failures: ['job_unknown'],
  },
  'GET /jobs/:id/items': {
    group: 'Jobs',
    summary: 'The documents of a job, each with why it is where it is',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Item),
    failures: ['job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/cancel': {
    group: 'Jobs',
    summary: 'End what is open of a job; what is done stays',
    params: byId,
    status: 200,
    answer: schema.CancelReceipt,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/pause': {
    group: 'Jobs',
    summary: 'Stop a job where it is',
    params: byId,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/resume': {
    group: 'Jobs',
    summary: 'Go on with a paused job',
    params: byId,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/retry': {
    group: 'Jobs',
    summary: 'Run what failed or was canceled again, each document from where it stopped',
    params: byId,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
} as const satisfies Record<string, Route>;

const history = {
  'GET /jobs/:id/events': {
    group: 'History',
    summary: 'What has happened to a job, by cursor',
    params: byId,
    query: eventPage,
    status: 200,
    answer: schema.Events,
    failures: ['job_unknown', 'bad_request'],
  },
  'GET /events': {
    group: 'History',
    summary: 'What has happened to all that is yours, by cursor',
    query: eventPage,
    status: 200,
    answer: schema.Events,
    failures: ['bad_request'],
  },
  'GET /jobs/:id/stream': {
    group: 'History',
    summary: 'The events of a job as they happen, until it ends; 204 when there is nothing more',
    params: byId,
    query: streamQuery,
    headers: lastEventId,
    status: 200,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['job_unknown', 'bad_request', 'too_many_streams'],
  },
  'GET /stream': {
    group: 'History',
    summary: 'The events of all that is yours, as they happen',
    query: streamQuery,
    headers: lastEventId,
    status: 200,
    answer: Type.String(),
    media: 'text/event-stream',
    failures: ['bad_request', 'too_many_streams'],
  },
} as const satisfies Record<string, Route>;

const inbox = {
  'GET /items/:id': {
    group: 'Inbox',
    summary: 'One document of a job',
    params: byId,
    status: 200,
    answer: schema.Item,
    failures: ['item_unknown'],
  },
  'GET /inbox': {
    group: 'Inbox',
    summary: 'What failed, by cause, with advice',
    query: query({
      corpus_name: corpusName,
      cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
      ...schema.page,
    }),
    status: 200,
    answer: schema.Inbox,
    failures: ['bad_request'],
  },
  'POST /inbox/retry': {
    group: 'Inbox',
    summary: 'Try failed documents again, each from its failed step',
    body: schema.Chosen,
    status: 200,
    answer: Type.Object({ retried: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { all: true },
  },
  'POST /inbox/discard': {
    group: 'Inbox',
    summary: 'Take failed documents out of the inbox for good',
    body: schema.Chosen,
    status: 200,
    answer: Type.Object({ discarded: schema.Count }),
    failures: ['bad_request', 'item_unknown', 'action_not_allowed'],
    example: { cause: 'empty_source' },
  },
} as const satisfies Record<string, Route>;

const corpora = {
  'GET /corpora': {
    group: 'Corpora',
    summary: 'What can be searched',
    status: 200,
    answer: schema.pageOf(schema.Corpus),
    failures: [],
  },
  'GET /corpora/:name': {
    group: 'Corpora',
    summary: 'One corpus',
    params: byName,
    status: 200,
    answer: schema.Corpus,
    failures: ['corpus_unknown'],
  },
  'DELETE /corpora/:name': {
    group: 'Corpora',
    summary: 'Delete a corpus with its documents',
    params: byName,
    status: 200,
    answer: Type.Object({ name: Type.String(), deleted: schema.Count }),
    failures: ['corpus_unknown', 'action_not_allowed'],
  },
  'GET /corpora/:name/documents': {
    group: 'Corpora',
    summary: 'The documents of a corpus',
    params: byName,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Document),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'GET /documents/:id': {
    group: 'Corpora',
    summary: 'One document',
    params: byId,
    status: 200,
    answer: schema.Document,
    failures: ['document_unknown'],
  },
  'DELETE /documents/:id': {
    group: 'Corpora',
    summary: 'Take a document out of its corpus',
    params: byId,
    status: 200,
    answer: Type.Object({ document_id: Type.String(), deleted: Type.Literal(true) }),
    failures: ['document_unknown'],
  },
  'GET /documents/:id/chunks': {
    group: 'Corpora',
    summary: 'The passages of a document, in order',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Chunk),
    failures: ['document_unknown', 'bad_request'],
  },
  'GET /documents/:id/entities': {
    group: 'Corpora',
    summary: 'The names that a document mentions',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Entity),
    failures: ['document_unknown', 'bad_request'],
  },
} as const satisfies Record<string, Route>;

const asking = {
  'POST /search': {
    group: 'Search',
    summary: 'The best passages of a corpus',
    body: schema.Search,
    status: 200,
    answer: schema.Found,
    failures: ['bad_request', 'corpus_unknown'],
    example: { corpus_name: 'handbook', query: 'when does the workshop open', top_k: 3 },
  },
  'GET /why': {
    group: 'Search',
    summary: 'Why a document is, or is not, in the results',
    query: query({
      corpus_name: schema.CorpusName,
      url: Type.String({ minLength: 1, maxLength: 4096 }),
      query: Type.Optional(
        Type.String({ minLength: 1, maxLength: limits.search.queryCharactersMax }),
      ),
    }),
    status: 200,
    answer: schema.Why,
    failures: ['bad_request', 'corpus_unknown'],
  },
} as const satisfies Record<string, Route>;

const open = { isOpen: true, status: 200, failures: [] } as const;
const service = {
  'GET /healthz': {
    ...open,
    group: 'Service',
    summary: 'The process is alive',
    answer: Type.Object({ status: Type.Literal('ok') }),
  },
  'GET /readyz': {
    ...open,
    group: 'Service',
    summary: 'Store, queue and provider can be used; 503 where one cannot',
    answer: schema.Ready,
  },
  'GET /metrics': {
    ...open,
    group: 'Service',
    summary: 'Figures for Prometheus',
    answer: Type.String(),
    media: 'text/plain',
  },
  'GET /openapi.json': {
    ...open,
    group: 'Service',
    summary: 'This description',
    answer: Type.Record(Type.String(), Type.Unknown()),
  },
  'GET /docs': {
    ...open,
    group: 'Service',
    summary: 'This description, for people',
    answer: Type.String(),
    media: 'text/html',
  },
} as const satisfies Record<string, Route>;

const documents = { ...jobs, ...history, ...inbox, ...corpora };

export const contract = { ...documents, ...attemptContract, ...asking, ...service };

export type Contract = typeof contract;
export type RouteName = keyof Contract;

type PartOf<R, Part extends string> =
  R extends Record<Part, infer S extends TSchema> ? Static<S> : undefined;

/** What a route is asked with, and what it answers. */
export type ParamsOf<Name extends RouteName> = PartOf<Contract[Name], 'params'>;
export type QueryOf<Name extends RouteName> = PartOf<Contract[Name], 'query'>;
export type BodyOf<Name extends RouteName> = PartOf<Contract[Name], 'body'>;
export type HeadersOf<Name extends RouteName> = PartOf<Contract[Name], 'headers'>;
export type AnswerOf<Name extends RouteName> = PartOf<Contract[Name], 'answer'>;
