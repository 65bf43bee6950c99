/** What many shapes are made of. */
import Type, { type TSchema } from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';

/** What comes in has these fields and no others: a misspelt one is not silently ignored. */
export const closed = { additionalProperties: false } as const;
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
export const oneOf = <const Names extends readonly string[]>(names: Names) =>
  Type.Unsafe<Names[number]>({ type: 'string', enum: [...names] });
export const time = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });
export const pageNumber = nullable(
  Type.Integer({ minimum: 1, description: 'The page or slide on which it begins.' }),
);
export const Url = Type.String({ minLength: 1, maxLength: limits.job.sourceUrlCharactersMax });
/** `NAME`, or `NAME@CALLER` for a corpus that was begun by another caller. */
export const CorpusName = Type.String({ pattern: limits.corpus.fullNamePattern.source });
/** A job that names none, or null, goes into the corpus of this name. */
export const CorpusNameOrNone = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    pattern: limits.corpus.fullNamePattern.source,
    default: limits.corpus.nameDefault,
  }),
);
export const globs = Type.Array(
  Type.String({ minLength: 1, maxLength: limits.job.crawlPatternCharactersMax }),
  {
    maxItems: limits.job.crawlPatternsMax,
  },
);

export const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.request.pageItemsMax })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
};

export const pageOf = <Schema extends TSchema>(items: Schema) =>
  Type.Object({ items: Type.Array(items), next_cursor: nullable(Type.String()) });

export const Tokens = Type.Object({ in: Count, out: Count });

/** What something has cost, and what it may. */
export const spent = {
  cost_cents: Type.Number(),
  tokens: Tokens,
  tokens_unpriced: Type.Integer({
    minimum: 0,
    description: 'Tokens among them whose price nobody knows.',
  }),
  tokens_saved: Type.Integer({
    minimum: 0,
    description: 'Not paid for, because they had been before.',
  }),
  saved_cents: Type.Number(),
  budget_cents: nullable(Type.Number()),
};

export const wallSeconds = Type.Integer({
  minimum: 1,
  maximum: limits.job.wallClockMs / 1000,
  description: 'How long the job may run before what is open of it ends as failed; 7 days at most.',
});

/** How long a job may run, and until when. */
export const wallClock = {
  max_wall_seconds: wallSeconds,
  deadline_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'When its time is over; null while its clock stands: queued, paused, ended.',
    }),
  ),
};

/** Seven counts of a job, by the names under which outside tools know them. */
export const Counters = Type.Object({
  urls_total: Count,
  urls_enqueued: Count,
  urls_processed: Count,
  documents_emitted: Count,
  chunks_indexed: Count,
  tokens_estimated: Count,
  duration_seconds: Type.Number(),
});

export const lastError = {
  last_error_kind: nullable(
    Type.String({ description: 'What failed last: while it waits for a retry, and at its end.' }),
  ),
  last_error_code: nullable(Type.String()),
};
