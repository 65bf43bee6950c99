/** The single services without a job: a direct response, or a queue. */

import { limits } from '../../kernel/limits/limits.ts';
import { chunkOverlapTokens, chunkTokens, closed, nullable, oneOf, Url } from '../schema/parts.ts';
import { Type } from '../schema/type.ts';
import { routes } from './row.ts';

const jobId = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }));
const textsMax = limits.budget.requestInputsMax;
const texts = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: textsMax });
const jobReference = { job_id: nullable(Type.String()) };
/** Warnings are a list. */
const sentences = Type.Unsafe<readonly string[]>(Type.Array(Type.String()));
const meta = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), sentences]),
);

const page = {
  url: Type.String(),
  final_url: Type.String(),
  media_type: Type.String(),
  title: nullable(Type.String()),
  language: nullable(Type.String()),
  text: Type.String(),
  markdown: Type.String(),
  meta,
};
const vectors = {
  model: Type.String(),
  dimensions: Type.Integer(),
  embeddings: Type.Array(Type.Array(Type.Number())),
  tokens: Type.Integer(),
  cost_cents: Type.Number(),
};

export const TextChunk = Type.Object({
  chunk_id: Type.String(),
  ordinal: Type.Integer(),
  heading: Type.String(),
  start_offset: Type.Integer(),
  end_offset: Type.Integer(),
  tokens: Type.Integer(),
  text: Type.String(),
});

export const services = routes('Services', {
  'POST /scrape': {
    summary: 'The text of a page, within 30 seconds, or 504',
    body: Type.Object({ url: Url, job_id: jobId }, closed),
    answer: Type.Object({ ...jobReference, ...page }),
    failures: [
      ...(['bad_request', 'invalid_url', 'private_address', 'robots_disallowed'] as const),
      ...(['http_404', 'no_usable_content', 'unsupported_mime', 'http_5xx'] as const),
      ...(['http_429', 'timeout_soft'] as const),
    ],
  },
  'POST /chunk': {
    summary: 'The chunks of a text, within 10 seconds, or 504',
    body: Type.Object(
      {
        text: Type.String({ minLength: 1 }),
        chunk_tokens: Type.Optional(chunkTokens),
        chunk_overlap_tokens: Type.Optional(chunkOverlapTokens),
        job_id: jobId,
      },
      closed,
    ),
    answer: Type.Object({ ...jobReference, chunks: Type.Array(TextChunk) }),
    failures: ['bad_request', 'payload_too_large', 'source_too_large', 'timeout_soft'],
  },
  'POST /embed': {
    summary: 'The vectors of a few texts, within 60 seconds, or 504',
    body: Type.Object({ texts, model: Type.Optional(Type.String()), job_id: jobId }, closed),
    answer: Type.Object({ ...jobReference, ...vectors }),
    failures: ['bad_request', 'provider_unavailable', 'provider_bad_request', 'timeout_soft'],
  },
  'POST /enqueue': {
    summary:
      'The same from a queue, for slow inputs. With a `job_id`, the job is called back; ' +
      'without one, fetch the result by its `id`',
    body: Type.Object(
      {
        url: Type.Optional(Url),
        texts: Type.Optional(texts),
        model: Type.Optional(Type.String()),
        job_id: jobId,
      },
      closed,
    ),
    status: 202,
    answer: Type.Object({
      ...jobReference,
      status: oneOf(['queued']),
      id: nullable(Type.String({ description: 'The id of the result; null with a job_id.' })),
    }),
    failures: [
      ...(['bad_request', 'invalid_url', 'private_address', 'forbidden'] as const),
      ...(['queue_full', 'queue_unavailable'] as const),
    ],
  },
  'GET /enqueue/:id': {
    summary: 'The result of POST /enqueue without a job, for just under an hour',
    params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
    answer: Type.Object({
      id: Type.String(),
      status: oneOf(['queued', 'done', 'failed']),
      page: nullable(Type.Object(page)),
      vectors: nullable(Type.Object(vectors)),
      error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    }),
    failures: ['enqueued_unknown'],
  },
});
