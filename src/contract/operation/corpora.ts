/** The routes of corpora, documents and search. */

import { limits } from '../../kernel/limits/limits.ts';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import { entityKinds } from '../../pipeline/entity/extraction.ts';
import * as schema from '../schema/schema.ts';
import { Type } from '../schema/type.ts';
import { byName, query, routes } from './row.ts';

const kind = Type.Optional(schema.oneOf(entityKinds));
/** These lists are returned whole: they have a maximum length and no cursor. */
const entityLimit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: limits.request.entitiesMax }),
);

const sharedWith = Type.Object({
  ...byName.properties,
  caller: Type.String({ minLength: 1, maxLength: limits.key.callerIdCharactersMax }),
});

export const corpora = routes('Corpora', {
  'GET /corpora': {
    summary: 'Your corpora, by name',
    query: query(schema.page),
    answer: schema.pageOf(schema.Corpus),
    failures: ['bad_request'],
  },
  'GET /corpora/:name': {
    summary: 'One corpus with its size and cost',
    answer: schema.CorpusDetail,
    failures: ['corpus_unknown'],
  },
  'POST /corpora/:name/budget': {
    summary: 'Set the total budget of a corpus; null for no budget',
    body: Type.Object(
      { budget_cents: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]) },
      { additionalProperties: false },
    ),
    answer: schema.CorpusDetail,
    failures: ['corpus_unknown', 'bad_request'],
  },
  'POST /corpora/:name/reembed': {
    summary: 'Embed a corpus again with the configured model; searches use the old one until then',
    body: schema.Budget,
    status: 202,
    answer: Type.Object({ name: Type.String(), job_id: Type.Union([Type.String(), Type.Null()]) }),
    failures: ['corpus_unknown', 'bad_request', 'action_not_allowed'],
  },
  'POST /corpora/:name/chunking': {
    summary: 'Set the size and the overlap of chunks; documents are split again from their text',
    body: Type.Object(
      {
        chunk_tokens: Type.Optional(Type.Union([schema.chunkTokens, Type.Null()])),
        chunk_overlap_tokens: Type.Optional(Type.Union([schema.chunkOverlapTokens, Type.Null()])),
        ...schema.Budget.properties,
      },
      { additionalProperties: false },
    ),
    status: 202,
    answer: Type.Object({
      name: Type.String(),
      chunk_tokens: Type.Integer(),
      chunk_overlap_tokens: Type.Integer(),
      job_id: Type.Union([Type.String(), Type.Null()]),
    }),
    failures: ['bad_request', 'forbidden', 'corpus_unknown'],
  },
  'GET /corpora/:name/origins': {
    summary: 'The services that receive text of a corpus, and those configured in this process',
    answer: schema.CorpusOrigins,
    failures: ['corpus_unknown'],
  },
  'POST /corpora/:name/origins': {
    summary: 'Accept the configured services: text of the corpus may be sent to them',
    answer: schema.CorpusOrigins,
    failures: ['corpus_unknown'],
  },
  'GET /corpora/:name/entities': {
    summary: 'The entities in the documents of a corpus, most frequent first',
    query: query({ kind, limit: entityLimit }),
    answer: schema.pageOf(schema.Entity),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'GET /corpora/:name/entities/:entity': {
    summary: 'The entities that share passages with an entity, most frequent first',
    params: Type.Object({
      ...byName.properties,
      entity: Type.String({ minLength: 1, maxLength: 500 }),
    }),
    query: query({ limit: entityLimit }),
    answer: schema.pageOf(schema.RelatedEntity),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'DELETE /corpora/:name': {
    summary: 'Delete a corpus with its documents',
    answer: Type.Object({ name: Type.String(), deleted: schema.Count }),
    failures: ['corpus_unknown', 'action_not_allowed'],
  },
  'GET /corpora/:name/shares': {
    summary: 'The callers that a corpus is shared with',
    answer: Type.Object({ items: Type.Array(schema.Share) }),
    failures: ['corpus_unknown', 'forbidden'],
  },
  'PUT /corpora/:name/shares/:caller': {
    summary: 'Share a corpus with another caller, to read or to write as well',
    params: sharedWith,
    body: Type.Object({ access: schema.ShareAccess }, { additionalProperties: false }),
    answer: schema.Share,
    failures: ['corpus_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
  },
  'DELETE /corpora/:name/shares/:caller': {
    summary: 'Stop sharing a corpus with a caller',
    params: sharedWith,
    answer: Type.Object({ caller_id: Type.String(), removed: Type.Boolean() }),
    failures: ['corpus_unknown', 'forbidden'],
  },
  'GET /corpora/:name/documents': {
    summary: 'The documents of a corpus',
    query: query({
      ...schema.page,
      partly_read: Type.Optional(
        Type.Boolean({
          description: `True: only documents with a \`kept_share\` below ${partlyReadBelow}.`,
        }),
      ),
    }),
    answer: schema.pageOf(schema.Document),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'POST /corpora/:name/documents/delete': {
    summary: 'Delete many documents of a corpus',
    body: Type.Object(
      {
        document_ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          minItems: 1,
          maxItems: limits.request.deletedAtOnceMax,
        }),
      },
      { additionalProperties: false },
    ),
    answer: Type.Object({ name: Type.String(), deleted: schema.Count }),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'GET /documents/:id': {
    summary: 'One document',
    answer: schema.Document,
    failures: ['document_unknown'],
  },
  'DELETE /documents/:id': {
    summary: 'Delete a document',
    answer: Type.Object({ document_id: Type.String(), deleted: Type.Literal(true) }),
    failures: ['document_unknown'],
  },
  'GET /documents/:id/raw': {
    summary: 'The original of a document: the bytes as they were fetched',
    headers: Type.Object({
      range: Type.Optional(
        Type.String({ description: 'One range of bytes, such as `bytes=0-1023`.' }),
      ),
    }),
    media: 'application/octet-stream',
    hasHead: true,
    answer: Type.String({ description: 'In the media type that the original was found to have.' }),
    failures: ['document_unknown', 'source_missing', 'range_not_satisfiable'],
  },
  'GET /documents/:id/outline': {
    summary: 'The headings of a document, in order',
    query: query(schema.page),
    answer: schema.pageOf(schema.Section),
    failures: ['document_unknown', 'bad_request'],
  },
  'GET /documents/:id/chunks': {
    summary: 'The chunks of a document, in order',
    query: query({
      ...schema.page,
      around: Type.Optional(
        Type.String({
          maxLength: 64,
          description:
            'Begin a little before this chunk, or at the start if the document no longer has it.',
        }),
      ),
    }),
    answer: schema.pageOf(schema.Chunk),
    failures: ['document_unknown', 'bad_request'],
  },
  'GET /documents/:id/entities': {
    summary: 'The entities in a document',
    query: query({ kind, limit: entityLimit }),
    answer: schema.pageOf(schema.DocumentEntity),
    failures: ['document_unknown', 'bad_request'],
  },
});

export const asking = routes('Search', {
  'POST /search': {
    summary: 'The best passages of a corpus for a query',
    body: schema.Search,
    answer: schema.Found,
    failures: ['bad_request', 'corpus_unknown'],
  },
  'POST /ask': {
    summary: 'An answer to a question, from the passages of a corpus, with citations',
    body: schema.Question,
    answer: schema.Answer,
    failures: [
      ...(['bad_request', 'corpus_unknown', 'answerer_missing', 'budget_exhausted'] as const),
      ...(['origin_not_configured', 'rate_limited', 'provider_unavailable'] as const),
      ...(['provider_auth', 'provider_bad_request', 'provider_quota'] as const),
      'step_output_invalid',
    ],
  },
  'GET /why': {
    summary: 'Why a document is, or is not, in the search results',
    query: query({
      corpus_name: schema.CorpusName,
      url: Type.String({ minLength: 1, maxLength: 4096 }),
      query: Type.Optional(
        Type.String({ minLength: 1, maxLength: limits.search.queryCharactersMax }),
      ),
    }),
    answer: schema.Why,
    failures: ['bad_request', 'corpus_unknown'],
  },
});
