/**
 * Request and response schemas, each defined once. Validation, TypeScript types and the OpenAPI
 * document are derived from them.
 */
import type { Static } from 'typebox';
import { lanes } from '../../engine/command/admission.ts';
import { failures } from '../../kernel/failure/failure.ts';
import { itemWait, waits } from '../../kernel/lifecycle/item-wait.ts';
import { job as jobMachine } from '../../kernel/lifecycle/job.ts';
import { stage as stageMachine } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import { eventKinds } from '../../observe/event.ts';
import { Chunk, Document } from './corpus.ts';
import { Metadata } from './metadata.ts';
import {
  CorpusNameOrNone,
  Counters,
  closed,
  CorpusName as corpusName,
  Count as count,
  globs,
  lastError,
  nullable,
  oneOf,
  pageOf,
  spent,
  Tokens,
  time,
  Url as url,
  wallClock,
  wallSeconds,
} from './parts.ts';
import { SyncRun } from './source.ts';
import { Type } from './type.ts';

export * from './answer.ts';
export * from './caller.ts';
export * from './corpus.ts';
export {
  CorpusName,
  Count,
  chunkOverlapTokens,
  chunkTokens,
  oneOf,
  page,
  pageOf,
  Url,
} from './parts.ts';
export * from './search.ts';

/** `cheap` uses the batches of providers: half the price, within a day. */
export const lane = oneOf(lanes);

const stages = ['scraping', 'chunking', 'embedding'] as const;

export const InlineDocument = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    title: Type.Optional(Type.String({ maxLength: limits.job.titleCharactersMax })),
    text: Type.Optional(Type.String()),
    html: Type.Optional(Type.String()),
    markdown: Type.Optional(Type.String()),
    source_url: Type.Optional(url),
    metadata: Type.Optional(Metadata),
  },
  closed,
);

/** Exactly one of `url`, `urls`, `documents` and `crawl`. */
export const NewJob = Type.Object(
  {
    corpus_name: CorpusNameOrNone,
    url: Type.Optional(url),
    urls: Type.Optional(Type.Array(url, { minItems: 1, maxItems: limits.job.itemsMax })),
    documents: Type.Optional(
      Type.Array(InlineDocument, { minItems: 1, maxItems: limits.job.itemsMax }),
    ),
    crawl: Type.Optional(
      Type.Object(
        {
          url,
          depth: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.job.crawlDepthMax })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.job.crawlPagesMax })),
          include: Type.Optional(globs),
          exclude: Type.Optional(globs),
        },
        closed,
      ),
    ),
    priority: Type.Optional(
      Type.Integer({
        minimum: limits.fairness.priorityMin,
        maximum: limits.fairness.priorityMax,
      }),
    ),
    force: Type.Optional(Type.Boolean()),
    lane: Type.Optional(lane),
    webhook_url: Type.Optional(url),
    budget_cents: Type.Optional(
      Type.Number({ minimum: 0, description: 'The job is paused before it costs more.' }),
    ),
    max_wall_seconds: Type.Optional(wallSeconds),
    metadata: Type.Optional(Metadata),
  },
  closed,
);

export const AcceptedJob = Type.Object({
  job_id: Type.String(),
  status: oneOf(stageMachine.states),
  state: oneOf(jobMachine.states),
  url_count: count,
});

const ErrorDetail = Type.Object({
  stage: Type.String(),
  step: Type.String(),
  code: Type.String(),
  error_code: Type.String(),
  kind: Type.String(),
  message: Type.String(),
  context: Type.Record(Type.String(), Type.Unknown()),
  at: time,
});

export const Job = Type.Object({
  job_id: Type.String(),
  status: oneOf(stageMachine.states),
  state: oneOf(jobMachine.states),
  message: Type.String({ description: 'The message for this status.' }),
  type: oneOf(['ingest', 'crawl', 'reembed', 'rechunk']),
  url: nullable(Type.String()),
  corpus_name: Type.String(),
  priority: Type.Integer(),
  lane,
  partial: Type.Boolean({ description: 'Ended with some documents done and some not.' }),
  items_total: count,
  items_done: count,
  items_failed: count,
  items_canceled: count,
  items_waiting: count,
  chunks_indexed: count,
  eta_seconds: nullable(count),
  counters: Counters,
  ...spent,
  pause_reason: nullable(Type.String({ description: 'Why it was paused automatically.' })),
  ...wallClock,
  actions: Type.Array(oneOf(jobMachine.actions)),
  failed_stage: Type.Optional(Type.String({ description: 'Only if status is failed.' })),
  ...lastError,
  error: Type.Optional(ErrorDetail),
  created_at: time,
  updated_at: time,
  started_at: nullable(time),
  ended_at: nullable(time),
  canceled_at: nullable(time),
});

/** The counts only if they are asked for. */
export const JobList = Type.Object({
  ...pageOf(Job).properties,
  counts: Type.Optional(Type.Object({ all: count, running: count, attention: count, done: count })),
});

export const JobDetail = Type.Object({
  ...Job.properties,
  counters: Type.Object({
    ...Counters.properties,
    steps: Type.Record(Type.String(), count, { description: 'The number of items at each step.' }),
  }),
  items_unchanged: Type.Integer({
    minimum: 0,
    description: 'Done without a new generation, because they had not changed.',
  }),
  documents_partly_read: Type.Integer({
    minimum: 0,
    description: 'Documents of the job that were only partly read. Counted when the job has ended.',
  }),
  causes: Type.Array(
    Type.Object({
      cause: Type.String(),
      count,
      title: Type.String(),
      advice: Type.String(),
      first_at: time,
      last_at: time,
    }),
  ),
  attempt: Type.Integer({
    description: 'The current try of the job or of an open item; 1 is the first.',
  }),
  next_retry_at: nullable(time),
});

export const CancelReceipt = Type.Object({
  job_id: Type.String(),
  state: Type.Literal('canceled'),
  canceled_at: time,
  stopped: Type.Object({ items: count }),
  kept: Type.Object({ items: count, documents: count, chunks: count }),
  spent: Type.Object({ cost_cents: Type.Number(), tokens: Tokens }),
});

export const JobMoved = Type.Object({
  job_id: Type.String(),
  state: oneOf(jobMachine.states),
  items_retried: Type.Optional(count),
});

export const Delivery = Type.Object({
  delivery_id: Type.String({ description: 'The `webhook-id` that the receiver sees.' }),
  type: Type.String(),
  url: Type.String(),
  state: oneOf(['pending', 'delivered', 'failed']),
  attempt: count,
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  next_try_at: nullable(time),
  tried_at: nullable(time),
  created_at: time,
});

export const Item = Type.Object({
  item_id: Type.Integer(),
  job_id: Type.String(),
  corpus_name: Type.String(),
  document_id: Type.String(),
  source: Type.String(),
  source_kind: Type.String(),
  step: Type.String(),
  reached: Type.Array(Type.String(), { description: 'The completed steps, in order.' }),
  waits_on: nullable(oneOf(waits)),
  lease: nullable(Type.Object({ worker: Type.String(), epoch: Type.Integer() })),
  working: nullable(Type.Object({ step: Type.String(), done: count, total: count })),
  attempt: Type.Integer({
    description: 'The current try; of a failed item, the number of tries.',
  }),
  retry_count: count,
  ...lastError,
  next_retry_at: nullable(time),
  error: nullable(ErrorDetail),
  advice: nullable(Type.String()),
  explanation: Type.String({
    description: 'The current state, the reason, and what happens next.',
  }),
  cost_cents: Type.Number(),
  tokens: Tokens,
  actions: Type.Array(oneOf(itemWait.actions)),
  failed_at: nullable(time),
  created_at: time,
  moved_at: time,
});

export const Event = Type.Object({
  seq: Type.Integer(),
  at: time,
  kind: oneOf(eventKinds),
  status: Type.Optional(oneOf(stageMachine.states)),
  job_id: nullable(Type.String()),
  item_id: nullable(Type.Integer()),
  step: nullable(Type.String()),
  attempt: nullable(Type.Integer()),
  worker: nullable(Type.String()),
  detail: Type.Record(Type.String(), Type.Unknown()),
});

/**
 * A client that has read up to `last_seq` has missed nothing; it may be beyond the last event
 * shown.
 */
export const Events = Type.Object({
  items: Type.Array(Event),
  last_seq: count,
  newest_seq: count,
  has_more: Type.Boolean(),
});

export const Cause = Type.Object({
  cause: Type.String(),
  fingerprint: Type.String({ description: 'The code, and the domain if there is one.' }),
  domain: nullable(Type.String()),
  count,
  sentence: Type.String(),
  title: Type.String(),
  advice: Type.String(),
  first_at: time,
  last_at: time,
});

export const Inbox = Type.Object({
  causes: Type.Array(Cause),
  items: Type.Array(Item),
  held: Type.Optional(Type.Array(SyncRun)),
  next_cursor: nullable(Type.String()),
});

/** The new budget; if absent, the budget stays. */
export const Budget = Type.Object(
  { budget_cents: Type.Optional(Type.Number({ minimum: 0 })) },
  closed,
);

/** Exactly one of `item_ids`, `cause` and `all`. */
export const Chosen = Type.Object(
  {
    item_ids: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        minItems: 1,
        maxItems: limits.event.pageMax,
      }),
    ),
    cause: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    all: Type.Optional(Type.Literal(true)),
    corpus_name: Type.Optional(corpusName),
  },
  closed,
);

const Provenance = Type.Object({
  generation: Type.Integer(),
  content_hash: Type.String(),
  job_id: nullable(Type.String()),
  item_id: Type.Integer(),
  blob_key: nullable(Type.String({ description: 'The SHA-256 of the raw bytes.' })),
  media_type: nullable(Type.String()),
  bytes: nullable(count),
  fetched_from: nullable(Type.String()),
  fetched_at: nullable(time),
  indexed_at: time,
});

export const Why = Type.Object({
  corpus_name: Type.String(),
  url: Type.String(),
  verdict: oneOf([
    'searchable',
    'replacing',
    'pending',
    'failed',
    'canceled',
    'deleted',
    'unknown',
  ]),
  explanation: Type.String(),
  document: nullable(Document),
  provenance: nullable(Provenance),
  item: nullable(Item),
  chunk: nullable(Type.Object({ ...Chunk.properties, score: nullable(Type.Number()) })),
});

export const Check = Type.Object({ ok: Type.Boolean(), detail: Type.String() });

export const Ready = Type.Object({
  ready: Type.Boolean(),
  /** By check name. Unused parts are absent. */
  checks: Type.Record(Type.String(), Check),
});

export const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: oneOf(Object.keys(failures) as (keyof typeof failures)[]),
  request_id: Type.String(),
});

/** Files of a form. */
export const Files = Type.Array(Type.String({ format: 'binary' }));

export { stages };

export type NewJob = Static<typeof NewJob>;
export type Job = Static<typeof Job>;
export type JobDetail = Static<typeof JobDetail>;
export type Delivery = Static<typeof Delivery>;
export type Item = Static<typeof Item>;
export type Event = Static<typeof Event>;
export type Cause = Static<typeof Cause>;
export type Chosen = Static<typeof Chosen>;
export type Why = Static<typeof Why>;
export type Problem = Static<typeof Problem>;
