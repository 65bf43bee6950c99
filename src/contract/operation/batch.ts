/** The routes and schemas of batch tasks. */
import type { Static } from 'typebox';
import { type BatchTaskState, batchTask } from '../../kernel/lifecycle/batch-task.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { Count, closed, nullable, oneOf, page, pageOf, Tokens, time } from '../schema/parts.ts';
import { Type } from '../schema/type.ts';
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
      description: 'transcription, completion, embedding, or a type of an added provider.',
    }),
    provider: Type.Optional(name),
    urls: Type.Optional(
      Type.Array(Type.String({ maxLength: limits.job.sourceUrlCharactersMax }), {
        minItems: 1,
        maxItems: limits.batch.jobsPerTaskMax,
        description:
          'Recordings for the named provider. Addresses that it does not accept are skipped.',
      }),
    ),
    language: Type.Optional(name),
    models: names,
    requests: Type.Optional(
      Type.Array(Request, {
        minItems: 1,
        maxItems: limits.batch.requestsPerTaskMax,
        description: 'Questions or texts, sent to each of the models.',
      }),
    ),
    dataset_ids: names,
  },
  closed,
);

/** The state in the terms of external tools. */
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
    description: 'Skipped addresses, which the provider does not accept.',
  }),
  output: nullable(Type.String({ description: 'Where the merged results are stored.' })),
  error: nullable(object),
  waiting: nullable(
    Type.String({ description: 'Why it waits longer than usual, and what to do.' }),
  ),
  results_ok: Count,
  results_failed: Count,
  tokens: Tokens,
  cost: nullable(
    Type.Object(
      { cents: Type.Number(), at_once_cents: Type.Number() },
      {
        description:
          'The cost at list prices, and the cost of the same live requests; null if unknown.',
      },
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
      {
        description: 'A task with `urls` names its provider; one with `requests` names its models.',
      },
    ),
  ),
});

export const batch = routes('Batch', {
  'POST /batch/tasks': {
    summary: 'Submit recordings, questions or texts to a provider that processes them within hours',
    body: NewBatchTask,
    headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
    status: 202,
    answer: BatchTask,
    failures: ['bad_request', 'provider_unknown', 'payload_too_large', 'idempotency_conflict'],
  },
  'GET /batch/providers': {
    summary: 'The batch providers that running processes are configured for',
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
    summary: 'The state of a batch task, with the status of its provider jobs',
    answer: BatchTask,
    failures: ['batch_task_unknown'],
  },
  'GET /batch/tasks/:id/output': {
    summary: 'The merged results of a batch task, as its providers returned them',
    answer: object,
    failures: ['batch_task_unknown', 'action_not_allowed', 'source_missing'],
  },
  'POST /batch/tasks/:id/cancel': {
    summary: 'Cancel a batch task now, and at its provider as soon as that is reachable',
    answer: BatchTask,
    failures: ['batch_task_unknown', 'action_not_allowed'],
  },
});
