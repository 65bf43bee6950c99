/** The routes of batch tasks, and their shapes. */
import Type, { type Static } from 'typebox';
import { type BatchTaskState, batchTask } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { Count, closed, nullable, oneOf, page, pageOf, Tokens, time } from '../schema/parts.ts';
import { query, routes } from './row.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });
const names = Type.Optional(Type.Array(name, { maxItems: limits.batch.jobsPerTaskMax }));

const Request = Type.Object(
  {
    custom_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    input: Type.String({ minLength: 1 }),
    instruction: Type.Optional(Type.String()),
    schema_name: Type.Optional(name),
    schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  closed,
);

/** Exactly one of `urls` and `requests`. */
export const NewBatchTask = Type.Object(
  {
    task_type: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'transcription, completion, embedding, or what an added provider takes.',
    }),
    provider: Type.Optional(name),
    urls: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.job.sourceUrlCharactersMax }), {
        minItems: 1,
        maxItems: limits.batch.jobsPerTaskMax,
        description: 'Recordings, for the provider that is named; it takes those it can.',
      }),
    ),
    language: Type.Optional(name),
    models: names,
    requests: Type.Optional(
      Type.Array(Request, {
        minItems: 1,
        maxItems: limits.batch.requestsPerTaskMax,
        description: 'Questions or texts, for every one of the models.',
      }),
    ),
    dataset_ids: names,
  },
  closed,
);

/** The state as outside tools know it. */
const statuses = batchTask.states.map((state) => state.toUpperCase() as Uppercase<BatchTaskState>);
const object = Type.Record(Type.String(), Type.Unknown());

export const BatchTask = Type.Object({
  task_id: Type.String(),
  task_type: Type.String(),
  provider: nullable(Type.String()),
  status: oneOf(statuses),
  state: oneOf(batchTask.states),
  provider_state: nullable(object),
  invalid_urls: Type.Array(Type.String(), {
    description: 'Addresses that were left out, because the provider cannot take them.',
  }),
  output: nullable(Type.String({ description: 'Where the merged results are stored.' })),
  error: nullable(object),
  waiting: nullable(
    Type.String({ description: 'Why it waits for longer than usual, and what would help.' }),
  ),
  results_ok: Count,
  results_failed: Count,
  tokens: Tokens,
  cost: nullable(
    Type.Object(
      { cents: Type.Number(), at_once_cents: Type.Number() },
      { description: 'By the vendor’s list, and what it would have cost at once; null: unknown.' },
    ),
  ),
  poll_errors: Count,
  next_at: nullable(time),
  actions: Type.Array(oneOf(batchTask.actions)),
  created_at: time,
  submitted_at: nullable(time),
  ended_at: nullable(time),
});

export type NewBatchTask = Static<typeof NewBatchTask>;
export type BatchTask = Static<typeof BatchTask>;

const Providers = Type.Object({
  items: Type.Array(
    Type.Object(
      {
        provider: Type.String(),
        task_types: Type.Array(Type.String()),
        input: oneOf(['urls', 'requests']),
      },
      { description: 'A task with `urls` names its provider, one with `requests` its models.' },
    ),
  ),
});

export const batch = routes('Batch', {
  'POST /batch/tasks': {
    summary: 'Hand work to a provider for hours: recordings, questions or texts',
    body: NewBatchTask,
    headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
    status: 202,
    answer: BatchTask,
    failures: ['bad_request', 'provider_unknown', 'payload_too_large', 'idempotency_conflict'],
  },
  'GET /batch/providers': {
    summary: 'The batch providers that running processes have the settings of',
    answer: Providers,
    failures: [],
  },
  'GET /batch/tasks': {
    summary: 'Your batch tasks, newest first',
    query: query({ state: Type.Optional(oneOf(batchTask.states)), ...page }),
    answer: pageOf(BatchTask),
    failures: ['bad_request'],
  },
  'GET /batch/tasks/:id': {
    summary: 'Where a batch task stands, with what its provider has said',
    answer: BatchTask,
    failures: ['batch_task_unknown'],
  },
  'GET /batch/tasks/:id/output': {
    summary: 'The merged results of a batch task that has any, as its providers gave them',
    answer: object,
    failures: ['batch_task_unknown', 'action_not_allowed', 'source_missing'],
  },
  'POST /batch/tasks/:id/cancel': {
    summary: 'End a batch task at once, and at its provider as soon as that is reached',
    answer: BatchTask,
    failures: ['batch_task_unknown', 'action_not_allowed'],
  },
});
