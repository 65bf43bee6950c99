/** The routes of jobs. */

import { item as itemLifecycle } from '../../kernel/lifecycle/item.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { stage as stageMachine } from '../../kernel/lifecycle/stage.ts';
import { CorpusName, time, wallSeconds } from '../schema/parts.ts';
import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { byId, corpusName, query, routes } from './row.ts';

/** Where a document of a job can be: at a step, with a worker, or waiting for anything else. */
const itemStates = ['working', 'waiting', ...itemLifecycle.machine.states] as const;
/** What a person asks of a list of jobs. */
const jobGroups = ['running', 'attention', 'done'] as const;
const idempotencyKey = Type.Object({ 'idempotency-key': Type.Optional(Type.String()) });

export const jobs = routes('Jobs', {
  'POST /jobs': {
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
  },
  'POST /jobs/upload': {
    summary: 'Submit files: a field `corpus_name`, and any number of files',
    takes: 'multipart/form-data',
    form: Type.Object({
      corpus_name: Type.Optional(CorpusName),
      priority: Type.Optional(Type.Integer()),
      force: Type.Optional(Type.Boolean()),
      lane: Type.Optional(schema.lane),
      budget_cents: Type.Optional(Type.Number()),
      max_wall_seconds: Type.Optional(wallSeconds),
      metadata: Type.Optional(Type.String({ description: 'Metadata of all files, as JSON.' })),
      file: schema.Files,
    }),
    headers: idempotencyKey,
    status: 202,
    answer: schema.AcceptedJob,
    failures: [
      'bad_request',
      'sources_empty',
      'source_too_large',
      'payload_too_large',
      'idempotency_conflict',
    ],
  },
  'GET /jobs': {
    summary: 'Your jobs, newest first',
    query: query({
      corpus_name: corpusName,
      group: Type.Optional(schema.oneOf(jobGroups)),
      text: Type.Optional(Type.String({ maxLength: 200 })),
      counts: Type.Optional(Type.Boolean()),
      status: Type.Optional(schema.oneOf(stageMachine.states)),
      state: Type.Optional(schema.oneOf(jobMachine.states)),
      failed_stage: Type.Optional(schema.oneOf(schema.stages)),
      created_after: Type.Optional(time),
      created_before: Type.Optional(time),
      ...schema.page,
    }),
    answer: schema.JobList,
    failures: ['bad_request'],
  },
  'GET /jobs/:id': {
    summary: 'The state of a job',
    answer: schema.JobDetail,
    failures: ['job_unknown'],
  },
  'GET /jobs/:id/items': {
    summary: 'The documents of a job, each with an explanation of its state',
    query: query({
      state: Type.Optional(schema.oneOf(itemStates)),
      ...schema.page,
    }),
    answer: schema.pageOf(schema.Item),
    failures: ['job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/cancel': {
    summary: 'Cancel the open documents of a job; finished ones stay',
    answer: schema.CancelReceipt,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/pause': {
    summary: 'Pause a job',
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
  'POST /jobs/:id/resume': {
    summary: 'Resume a paused job, optionally with a higher budget',
    body: schema.Budget,
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed', 'bad_request'],
  },
  'POST /jobs/:id/retry': {
    summary: 'Retry failed and canceled documents, each from where it stopped',
    answer: schema.JobMoved,
    failures: ['job_unknown', 'action_not_allowed'],
  },
});

export const webhooks = routes('Webhooks', {
  'GET /jobs/:id/deliveries': {
    summary: 'The webhook deliveries of a job, with their results',
    query: query(schema.page),
    answer: schema.pageOf(schema.Delivery),
    failures: ['job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/deliveries/:delivery/replay': {
    summary: 'Send a webhook again, under the same id',
    params: Type.Object({ ...byId.properties, delivery: Type.String({ maxLength: 64 }) }),
    status: 202,
    answer: schema.Delivery,
    failures: ['job_unknown', 'delivery_unknown'],
  },
  'GET /webhooks/secret': {
    summary: 'The secret that signs your webhooks',
    answer: Type.Object({ secret: Type.String() }),
    failures: ['action_not_allowed'],
  },
});
