/** What services of Pawl tell each other: only they may call these. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import { entityKinds } from '../../pipeline/entity/extraction.ts';
import { closed, nullable, oneOf } from '../schema/parts.ts';
import { routes } from './row.ts';

const key = Type.String({ minLength: 1, maxLength: 64 });
const epoch = Type.Integer({ minimum: 0 });
const name = Type.String({ maxLength: 200 });
const stages = oneOf(['scraping', 'chunking', 'embedding']);
const bytes = Type.String({ contentEncoding: 'base64', description: 'Bytes beside the JSON.' });
const anything = Type.Record(Type.String(), Type.Unknown());
const message = Type.String({ maxLength: limits.handoff.messageCharactersMax });

const title = Type.Optional(nullable(Type.String()));

/** Of the stage `scraping`. */
export const ScrapedPage = Type.Object(
  {
    markdown: Type.Optional(
      Type.String({ minLength: 1, description: 'The text of the page, as Markdown.' }),
    ),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The same as plain text, where there is no other.',
      }),
    ),
    title,
    language: title,
    url: Type.Optional(Type.String()),
    final_url: Type.Optional(Type.String({ description: 'Where the last redirect led.' })),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 299 })),
    media_type: Type.Optional(
      Type.String({ description: 'The type of `bytes`, the page as it was read, if they come.' }),
    ),
    meta: Type.Optional(anything),
  },
  {
    description:
      'The answer of `POST /scrape`. It must have `markdown` or `text`, or the page itself in ' +
      '`bytes` with its `media_type`: then its text is asked for next.',
  },
);

/** Of the stage `embedding`: the vectors. */
export const EmbeddedTexts = Type.Object(
  {
    embeddings: Type.Array(Type.Array(Type.Number()), {
      description: 'A vector for each text of the question, in its order.',
    }),
    model: Type.Optional(Type.String()),
    tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    cost_cents: Type.Optional(Type.Number({ minimum: 0 })),
  },
  { description: 'The answer of `POST /embed`.' },
);

/** Of the stage `embedding`: what names a text has. */
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
    'What the stage found. Workers of Pawl send a form of their own. What cannot be used is ' +
    'refused with 400, and the question stays open.',
});

const failureContext = Type.Record(
  Type.String({ maxLength: 64 }),
  Type.Union([Type.String({ maxLength: 2000 }), Type.Number(), Type.Boolean()]),
  { maxProperties: 16, description: 'Where it happened: domain, url, status, attempt, worker_id.' },
);

export const callbacks = routes('Callbacks', {
  'POST /jobs/:id/begin': {
    isInternal: true,
    summary: 'A worker has taken a message, and asks what is wanted',
    body: Type.Object(
      {
        handoff: key,
        worker: Type.Object(
          { id: name, host: name, pid: Type.Integer(), process_started: name },
          closed,
        ),
        alone: Type.Optional(
          Type.Boolean({ description: 'The worker does nothing else until it has ended this.' }),
        ),
      },
      closed,
    ),
    answer: Type.Object({
      status: oneOf(['begun', 'gone', 'alone']),
      uptime_ms: Type.Optional(
        Type.Integer({ description: 'Of `alone`: how long the process must have lived.' }),
      ),
      epoch: Type.Optional(epoch),
      kind: Type.Optional(Type.String()),
      releases: Type.Optional(Type.Integer({ minimum: 0 })),
      request: Type.Optional(anything),
      bytes: Type.Optional(bytes),
    }),
    failures: ['forbidden', 'job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/heartbeat': {
    isInternal: true,
    summary: 'A worker lives, tells how far it has come, or leaves',
    body: Type.Object(
      {
        handoff: key,
        epoch,
        progress: Type.Optional(Type.Object({ done: Type.Number(), total: Type.Number() }, closed)),
        leaving: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    answer: Type.Object({ status: oneOf(['ok', 'gone']) }),
    failures: ['forbidden', 'job_unknown', 'bad_request'],
  },
  'POST /jobs/:id/complete': {
    isInternal: true,
    summary: 'A stage has ended; a second callback for it is a safe no-op',
    body: Type.Object(
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
          Type.Number({ minimum: 0, description: 'Asks for another try, after this time.' }),
        ),
        retry: Type.Optional(
          Type.Boolean({
            description:
              'Asks for another try, by the rules of the orchestrator. A failure that asks for ' +
              'none is recorded as reported.',
          }),
        ),
        tries: Type.Optional(Type.Integer({ minimum: 1 })),
        context: Type.Optional(failureContext),
      },
      closed,
    ),
    answer: Type.Object({
      status: Type.String({
        description:
          'The status that follows; of a failure `job_failed`, `document_failed` where the job ' +
          'has others, `retry_scheduled` or `job_paused`; `already_advanced` for what came late.',
      }),
    }),
    failures: ['forbidden', 'job_unknown', 'bad_request', 'payload_too_large'],
  },
});
