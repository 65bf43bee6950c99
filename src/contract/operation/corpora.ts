/** The routes of corpora, documents and search. */
import Type from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import { partlyReadBelow } from '../../kernel/text/kept-share.ts';
import { entityKinds } from '../../pipeline/entity/extraction.ts';
import * as schema from '../schema/schema.ts';
import { byId, byName, query, type Route } from './row.ts';

const kind = Type.Optional(schema.oneOf(entityKinds));
/** These lists are returned whole: they have a maximum length and no cursor. */
const entityLimit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: limits.request.entitiesMax }),
);

const sharedWith = Type.Object({
  ...byName.properties,
  caller: Type.String({ minLength: 1, maxLength: limits.key.callerIdCharactersMax }),
});

export const corpora = {
  'GET /corpora': {
    group: 'Corpora',
    summary: 'Your corpora, by name',
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Corpus),
    failures: ['bad_request'],
  },
  'GET /corpora/:name': {
    group: 'Corpora',
    summary: 'One corpus with its size and cost',
    params: byName,
    status: 200,
    answer: schema.CorpusDetail,
    failures: ['corpus_unknown'],
  },
  'POST /corpora/:name/budget': {
    group: 'Corpora',
    summary: 'Set the total budget of a corpus; null for no budget',
    params: byName,
    body: Type.Object(
      { budget_cents: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]) },
      { additionalProperties: false },
    ),
    status: 200,
    answer: schema.CorpusDetail,
    failures: ['corpus_unknown', 'bad_request'],
    example: { budget_cents: null },
  },
  'POST /corpora/:name/reembed': {
    group: 'Corpora',
    summary: 'Embed a corpus again with the configured model; searches use the old one until then',
    params: byName,
    body: schema.Budget,
    status: 202,
    answer: Type.Object({ name: Type.String(), job_id: Type.Union([Type.String(), Type.Null()]) }),
    failures: ['corpus_unknown', 'bad_request', 'action_not_allowed'],
  },
  'GET /corpora/:name/origins': {
    group: 'Corpora',
    summary: 'The services that receive text of a corpus, and those configured in this process',
    params: byName,
    status: 200,
    answer: schema.CorpusOrigins,
    failures: ['corpus_unknown'],
  },
  'POST /corpora/:name/origins': {
    group: 'Corpora',
    summary: 'Accept the configured services: text of the corpus may be sent to them',
    params: byName,
    status: 200,
    answer: schema.CorpusOrigins,
    failures: ['corpus_unknown'],
  },
  'GET /corpora/:name/entities': {
    group: 'Corpora',
    summary: 'The entities in the documents of a corpus, most frequent first',
    params: byName,
    query: query({ kind, limit: entityLimit }),
    status: 200,
    answer: schema.pageOf(schema.Entity),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'GET /corpora/:name/entities/:entity': {
    group: 'Corpora',
    summary: 'The entities that share passages with an entity, most frequent first',
    params: Type.Object({
      ...byName.properties,
      entity: Type.String({ minLength: 1, maxLength: 500 }),
    }),
    query: query({ limit: entityLimit }),
    status: 200,
    answer: schema.pageOf(schema.RelatedEntity),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'DELETE /corpora/:name': {
    group: 'Corpora',
    summary: 'Delete a corpus with its documents',
    params: byName,
    status: 200,
    answer: Type.Object({ name: Type.String(), deleted: schema.Count }),
    failures: ['corpus_unknown', 'action_not_allowed'],
  },
  'GET /corpora/:name/shares': {
    group: 'Corpora',
    summary: 'The callers that a corpus is shared with',
    params: byName,
    status: 200,
    answer: Type.Object({ items: Type.Array(schema.Share) }),
    failures: ['corpus_unknown', 'forbidden'],
  },
  'PUT /corpora/:name/shares/:caller': {
    group: 'Corpora',
    summary: 'Share a corpus with another caller, to read or to write as well',
    params: sharedWith,
    body: Type.Object({ access: schema.ShareAccess }, { additionalProperties: false }),
    status: 200,
    answer: schema.Share,
    failures: ['corpus_unknown', 'forbidden', 'bad_request', 'action_not_allowed'],
    example: { access: 'read' },
  },
  'DELETE /corpora/:name/shares/:caller': {
    group: 'Corpora',
    summary: 'Stop sharing a corpus with a caller',
    params: sharedWith,
    status: 200,
    answer: Type.Object({ caller_id: Type.String(), removed: Type.Boolean() }),
    failures: ['corpus_unknown', 'forbidden'],
  },
  'GET /corpora/:name/documents': {
    group: 'Corpora',
    summary: 'The documents of a corpus',
    params: byName,
    query: query({
      ...schema.page,
      partly_read: Type.Optional(
        Type.Boolean({
          description: `True: only documents with a \`kept_share\` below ${partlyReadBelow}.`,
        }),
      ),
    }),
    status: 200,
    answer: schema.pageOf(schema.Document),
    failures: ['corpus_unknown', 'bad_request'],
  },
  'GET /documents/:id': {
    group: 'Corpora',
    summary: 'One document',
    params: byId,
    status: 200,
    answer: schema.Document,
    failures: ['document_unknown'],
  },
  'DELETE /documents/:id': {
    group: 'Corpora',
    summary: 'Delete a document',
    params: byId,
    status: 200,
    answer: Type.Object({ document_id: Type.String(), deleted: Type.Literal(true) }),
    failures: ['document_unknown'],
  },
  'GET /documents/:id/chunks': {
    group: 'Corpora',
    summary: 'The chunks of a document, in order',
    params: byId,
    query: query(schema.page),
    status: 200,
    answer: schema.pageOf(schema.Chunk),
    failures: ['document_unknown', 'bad_request'],
  },
  'GET /documents/:id/entities': {
    group: 'Corpora',
    summary: 'The entities in a document',
    params: byId,
    query: query({ kind, limit: entityLimit }),
    status: 200,
    answer: schema.pageOf(schema.DocumentEntity),
    failures: ['document_unknown', 'bad_request'],
  },
} as const satisfies Record<string, Route>;

export const asking = {
  'POST /search': {
    group: 'Search',
    summary: 'The best passages of a corpus for a query',
    body: schema.Search,
    status: 200,
    answer: schema.Found,
    failures: ['bad_request', 'corpus_unknown'],
    example: { corpus_name: 'handbook', query: 'when does the workshop open', top_k: 3 },
  },
  'GET /why': {
    group: 'Search',
    summary: 'Why a document is, or is not, in the search results',
    query: query({
      corpus_name: schema.CorpusName,
      url: Type.String({ minLength: 1, maxLength: 4096 }),
      query: Type.Optional(
        Type.String({ minLength: 1, maxLength: limits.search.queryCharactersMax }),
      ),
    }),
    status: 200,
    answer: schema.Why,
    failures: ['bad_request', 'corpus_unknown'],
  },
} as const satisfies Record<string, Route>;
