/** Calls between services of Pawl. Only services may use them. */

import { limits } from '../../kernel/limits/limits.ts';
import { entityKinds } from '../../pipeline/entity/extraction.ts';
import { closed, nullable, oneOf } from '../schema/parts.ts';
import { Type } from '../schema/type.ts';
import { routes } from './row.ts';

const key = Type.String({ minLength: 1, maxLength: 64 });
const epoch = Type.Integer({ minimum: 0 });
const name = Type.String({ maxLength: 200 });
const stages = oneOf(['scraping', 'chunking', 'embedding']);
const bytes = Type.String({
  contentEncoding: 'base64',
  description: 'Binary data beside the JSON.',
});
const anything = Type.Record(Type.String(), Type.Unknown());
const message = Type.String({ maxLength: limits.handoff.messageCharactersMax });

const title = Type.Optional(nullable(Type.String()));

/** Result of the stage `scraping`. */
export const ScrapedPage = Type.Object(
  {
    markdown: Type.Optional(
      Type.String({ minLength: 1, description: 'The text of the page, as Markdown.' }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The text as plain text, if there is no Markdown.',
      }),
    ),
    title,
    language: title,
    url: Type.Optional(Type.String()),
    final_url: Type.Optional(Type.String({ description: 'The address after the last redirect.' })),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299 })),
    media_type: Type.Optional(
      Type.String({ description: 'The media type of `bytes`, if the page itself is sent.' }),
    ),
    meta: Type.Optional(anything),
  },
  {
    description:
      'The response of `POST /scrape`. It must have `markdown` or `text`, or the ' +
      'page itself in `bytes` with its `media_type`: then its text is extracted next.',
  },
);

/** Result of the stage `embedding`: the vectors. */
export const EmbeddedTexts = Type.Object(
  {
    embeddings: Type.Array(Type.Array(Type.Number()), {
      description: 'One vector per text of the request, in the same order.',
    }),
    model: Type.Optional(Type.String()),
    tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    cost_cents: Type.Optional(Type.Number({ minimum: 0 })),
  },
  { description: 'The response of `POST /embed`.' },
);

/** Result of the stage `embedding`: the entities of a text. */
export const FoundEntities = Type.Object({
  entities: Type.Array(
    Type.Object({
      kind: oneOf(entityKinds),
      name: Type.String(),
      aliases: Type.Optional(Type.Array(Type.String())),
      mentions: Type.Optional(
        Type.Array(
          Type.Object({
            start: Type.Integer(),
            end: Type.Integer(),
            passage: Type.Integer(),
          }),
        ),
      ),
    }),
  ),
  relations: Type.Optional(
    Type.Array(Type.Object({ one: Type.Integer(), other: Type.Integer(), weight: Type.Number() })),
  ),
});

const StageResult = Type.Union([ScrapedPage, EmbeddedTexts, FoundEntities, anything], {
  description:
    'The result of the stage. Workers of Pawl send their own form. An invalid result is ' +
    'refused with 400, and the request stays open.',
});

const failureContext = Type.Record(
  Type.String({ maxLength: 64 }),
  Type.Union([Type.String({ maxLength: 2000 }), Type.Number(), Type.Boolean()]),
  {
    maxProperties: 16,
    description: 'Context of the failure: domain, url, status, attempt, worker_id.',
  },
);

const BeginBody = Type.Object(
  {
    handoff: key,
    worker: Type.Object(
      { id: name, host: name, pid: Type.Integer(), process_started: name },
      closed,
    ),
    alone: Type.Optional(
      Type.Boolean({ description: 'The worker does nothing else until this is finished.' }),
    ),
  },
  closed,
);

const Begun = Type.Object({
  status: oneOf(['begun', 'gone', 'alone']),
  uptime_ms: Type.Optional(
    Type.Integer({ description: 'For `alone`: the minimum uptime of the process.' }),
  ),
  epoch: Type.Optional(epoch),
  kind: Type.Optional(Type.String()),
  releases: Type.Optional(Type.Integer({ minimum: 0 })),
  request: Type.Optional(anything),
  bytes: Type.Optional(bytes),
});

const HeartbeatBody = Type.Object(
  {
    handoff: key,
    epoch,
    progress: Type.Optional(Type.Object({ done: Type.Number(), total: Type.Number() }, closed)),
    leaving: Type.Optional(Type.Boolean()),
  },
  closed,
);

const Heard = Type.Object({ status: oneOf(['ok', 'gone']) });

const CompletionBody = Type.Object(
  {
    stage: stages,
    status: oneOf(['success', 'failed']),
    error_code: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    error_message: Type.Optional(message),
    result: Type.Optional(StageResult),
    bytes: Type.Optional(bytes),
    item_id: Type.Optional(Type.Integer()),
    handoff: Type.Optional(key),
    epoch: Type.Optional(epoch),
    retry_after_ms: Type.Optional(
      Type.Number({ minimum: 0, description: 'Requests another try after this time.' }),
    ),
    retry: Type.Optional(
      Type.Boolean({
        description:
          'Requests another try, by the rules of the orchestrator. Without it, the ' +
          'failure is recorded as reported.',
      }),
    ),
    tries: Type.Optional(Type.Integer({ minimum: 1 })),
    context: Type.Optional(failureContext),
  },
  closed,
);

const Completed = Type.Object({
  status: Type.String({
    description:
      'The next status. After a failure: `job_failed`, `document_failed` if the ' +
      'job has other documents, `retry_scheduled` or `job_paused`. ' +
      '`already_advanced` for a late callback.',
  }),
});

/** One callback of a batch: its job, and one of the three bodies. */
const BatchedCall = Type.Object(
  {
    job_id: key,
    begin: Type.Optional(BeginBody),
    heartbeat: Type.Optional(HeartbeatBody),
    complete: Type.Optional(CompletionBody),
  },
  closed,
);

/** Its response, or why it was refused. */
const BatchedReply = Type.Object({
  begin: Type.Optional(Begun),
  heartbeat: Type.Optional(Heard),
  complete: Type.Optional(Completed),
  error: Type.Optional(
    Type.Object({
      code: Type.String(),
      detail: Type.String({ description: 'What was wrong with this callback.' }),
    }),
  ),
});

export const callbacks = routes('Callbacks', {
  'POST /callbacks': {
    isInternal: true,
    summary: 'Many callbacks in one request, each with its own response',
    body: Type.Object(
      {
        calls: Type.Array(BatchedCall, {
          minItems: 1,
          maxItems: limits.handoff.callBatchMax,
          description: 'Each has one of `begin`, `heartbeat` and `complete`.',
        }),
      },
      closed,
    ),
    answer: Type.Object({
      replies: Type.Array(BatchedReply, {
        description:
          'One for each callback, in the same order. An empty one means that the others have ' +
          'filled the response: send that callback again.',
      }),
    }),
    failures: ['forbidden', 'bad_request', 'payload_too_large'],
  },
  'POST /jobs/:id/begin': {
    isInternal: true,
    summary: 'A worker has taken a message and requests its content',
    body: BeginBody,
    answer: Begun,
    failures: ['forbidden', 'job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/heartbeat': {
    isInternal: true,
    summary: 'Heartbeat of a worker: it is alive, reports progress, or leaves',
    body: HeartbeatBody,
    answer: Heard,
    failures: ['forbidden', 'job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/complete': {
    isInternal: true,
    summary: 'Report the end of a stage; a duplicate has no effect',
    body: CompletionBody,
    answer: Completed,
    failures: ['forbidden', 'job_unknown', 'bad_request', 'payload_too_large'],
  },
});
