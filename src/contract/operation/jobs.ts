/** The routes of jobs. */
import Type from 'typebox';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { stage as stageMachine } from '../../kernel/lifecycle/stage.ts';
import { CorpusName, time, wallSeconds } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { byId, corpusName, query, type Route } from './row.ts';

const idempotencyKey = Type.Object({ 'idempotency-key': Type.Optional(Type.String()) });

export const jobs = {
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
      'private_address',
      'action_not_allowed',
    ],
    example: {
      corpus_name: 'handbook',
      documents: [{ id: 'welcome', title: 'Welcome', text: 'The workshop opens at nine.' }],
    },
  },
  'POST /jobs/upload': {
    group: 'Jobs',
    summary: 'Submit files: a field `corpus_name`, and any number of files',
    takes: 'multipart/form-data',
    form: Type.Object({
      corpus_name: Type.Optional(CorpusName),
      priority: Type.Optional(Type.Integer()),
      force: Type.Optional(Type.Boolean()),
      lane: Type.Optional(schema.lane),
      budget_cents: Type.Optional(Type.Number()),
      max_wall_seconds: Type.Optional(wallSeconds),
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
      created_after: Type.Optional(time),
      created_before: Type.Optional(time),
      ...schema.page,
    }),
    status: 200,
    answer: schema.pageOf(schema.Job),
    failures: ['bad_request'],
  },
  'GET /jobs/:id': {
    group: 'Jobs',
    summary: 'The state of a job',
    params: byId,
    status: 200,
    answer: schema.JobDetail,
    failures: ['job_unknown'],
  },
  'GET /jobs/:id/items': {
    group: 'Jobs',
    summary: 'The documents of a job, each with an explanation of its state',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Item),
    failures: ['job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/cancel': {
    group: 'Jobs',
    summary: 'Cancel the open documents of a job; finished ones stay',
    params: byId,
    status: 200,
    answer: schema.CancelReceipt,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/pause': {
    group: 'Jobs',
    summary: 'Pause a job',
    params: byId,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/resume': {
    group: 'Jobs',
    summary: 'Resume a paused job, optionally with a higher budget',
    params: byId,
    body: schema.Budget,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed', 'bad_request'],
  },
  'POST /jobs/:id/retry': {
    group: 'Jobs',
    summary: 'Retry failed and canceled documents, each from where it stopped',
    params: byId,
    status: 200,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
} as const satisfies Record<string, Route>;

export const webhooks = {
  'GET /jobs/:id/deliveries': {
    group: 'Webhooks',
    summary: 'The webhook deliveries of a job, with their results',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Delivery),
    failures: ['job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/deliveries/:delivery/replay': {
    group: 'Webhooks',
    summary: 'Send a webhook again, under the same id',
    params: Type.Object({ ...byId.properties, delivery: Type.String({ maxLength: 64 }) }),
    status: 202,
    answer: schema.Delivery,
    failures: ['job_unknown', 'delivery_unknown'],
  },
  'GET /webhooks/secret': {
    group: 'Webhooks',
    summary: 'The secret that signs your webhooks',
    status: 200,
    answer: Type.Object({ secret: Type.String() }),
    failures: ['action_not_allowed'],
  },
} as const satisfies Record<string, Route>;
