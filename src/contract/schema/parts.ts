/** Parts that several schemas share. */
import type { TSchema } from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import { Type } from './type.ts';

/** Requests may only have the defined fields, so that a misspelt one is not silently ignored. */
export const closed = { additionalProperties: false } as const;
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
export const oneOf = <const Names extends readonly string[]>(names: Names) =>
  Type.Unsafe<Names[number]>({ type: 'string', enum: [...names] });
export const time = Type.String({ format: 'date-time' });
export const Count = Type.Integer({ minimum: 0 });
export const pageNumber = nullable(
  Type.Integer({ minimum: 1, description: 'The page or slide on which it starts.' }),
);
export const Url = Type.String({ minLength: 1, maxLength: limits.job.sourceUrlCharactersMax });
/** `NAME`, or `NAME@CALLER` for a corpus of another caller. */
export const CorpusName = Type.String({ pattern: limits.corpus.fullNamePattern.source });
/** The corpus of a job without a corpus name, or with null. */
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

/** Cost and budget. */
export const spent = {
  cost_cents: Type.Number(),
  tokens: Tokens,
  tokens_unpriced: Type.Integer({
    minimum: 0,
    description: 'Tokens whose price is unknown.',
  }),
  tokens_saved: Type.Integer({
    minimum: 0,
    description: 'Tokens that did not have to be paid again.',
  }),
  saved_cents: Type.Number(),
  budget_cents: nullable(Type.Number()),
};

export const wallSeconds = Type.Integer({
  minimum: 1,
  maximum: limits.job.wallClockMs / 1000,
  description: 'How long the job may run before its open documents fail; 7 days at most.',
});

/** The time limit and the deadline of a job. */
export const wallClock = {
  max_wall_seconds: wallSeconds,
  deadline_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'The deadline; null while the clock is stopped: queued, paused or ended.',
    }),
  ),
};

/** Seven counters of a job, under the names that external tools use. */
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
    Type.String({ description: 'The last error, while a retry is pending and after the end.' }),
  ),
  last_error_code: nullable(Type.String()),
};

/** The SHA-256 of a key, or its first 16 digits. */
export const keyHashPattern = '^(sha256:)?([0-9a-fA-F]{64}|[0-9a-fA-F]{16})$';

const { ownChunkTokensMin, ownChunkTokensMax } = limits.document;
export const chunkTokens = Type.Integer({
  minimum: ownChunkTokensMin,
  maximum: ownChunkTokensMax,
});
export const chunkOverlapTokens = Type.Integer({ minimum: 0, maximum: ownChunkTokensMax / 2 });
