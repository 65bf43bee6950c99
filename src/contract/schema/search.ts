/** The schemas of a search. */
import type { Static } from 'typebox';
import { limits } from '../../kernel/limits/limits.ts';
import { type FacetName, facetForms, facetNames } from '../../search/facet.ts';
import { listNames } from '../../search/fusion.ts';
import { querySyntaxes } from '../../search/query/query.ts';
import { searchModes } from '../../search/request.ts';
import { SearchFilter } from '../search-filter.ts';
import { Explanation, Highlight } from './explanation.ts';
import { Metadata } from './metadata.ts';
import { CorpusName, Count, closed, nullable, oneOf, pageNumber } from './parts.ts';
import { Type } from './type.ts';

const weight = Type.Optional(
  Type.Number({ minimum: 0, maximum: 1000, description: 'The weight of this list.' }),
);

const facetName = Type.Unsafe<FacetName>(
  Type.String({
    pattern: `^(?:${facetNames.join('|')}|metadata\\..+)$`,
    maxLength: 80,
    description: '`metadata.KEY` counts the values of a key of the metadata.',
  }),
);

export const Search = Type.Object(
  {
    corpus_name: Type.Optional(CorpusName),
    corpus_names: Type.Optional(
      Type.Array(CorpusName, {
        minItems: 1,
        maxItems: limits.search.corporaMax,
        uniqueItems: true,
        description: 'Several corpora, instead of `corpus_name`.',
      }),
    ),
    query: Type.String({
      minLength: 1,
      maxLength: limits.search.queryCharactersMax,
      description:
        'Words, and operators: "exact words", -without, title:, heading:, url:, host: and ' +
        'language: with a value.',
    }),
    top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.search.topKMax })),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.search.offsetMax,
        description: 'How many results to skip.',
      }),
    ),
    mode: Type.Optional(oneOf(searchModes)),
    filter: Type.Optional(SearchFilter),
    min_score: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'The least `relevance` of a result.' }),
    ),
    near: Type.Optional(
      Type.Boolean({
        description: 'True: also the nearest passages of a query whose words occur nowhere.',
      }),
    ),
    group: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('document')], {
        description:
          'True, the default: at most three of ten results are of one document while others ' +
          'follow. `document`: one result for each document, with further `passages`. False: ' +
          'as ranked.',
      }),
    ),
    facets: Type.Optional(
      Type.Array(facetName, {
        maxItems: limits.search.facetsMax,
        uniqueItems: true,
        description: `Count the documents that match by these properties: ${facetForms}.`,
      }),
    ),
    weights: Type.Optional(
      Type.Object(Object.fromEntries(listNames.map((name) => [name, weight])) as Weights, {
        ...closed,
        description: 'Of the lists of hybrid search. A list without a weight keeps its own.',
      }),
    ),
    syntax: Type.Optional(oneOf(querySyntaxes)),
    explain: Type.Optional(Type.Boolean()),
  },
  closed,
);

type Weights = Record<(typeof listNames)[number], typeof weight>;

const hitFields = {
  chunk_id: Type.String(),
  corpus_name: Type.String(),
  text: Type.String(),
  score: Type.Number({
    description:
      'Only comparable within one response: the best result of a query is near 1, however poor.',
  }),
  relevance: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Comparable between queries. Near 0: hardly a word or a meaning in common.',
  }),
  near: Type.Boolean({
    description: 'True: it has none of the words, and was found by its vector alone.',
  }),
  source_url: Type.String(),
  document_id: Type.String(),
  title: nullable(Type.String()),
  heading: Type.String(),
  page: pageNumber,
  ordinal: Type.Integer({
    minimum: 0,
    description: 'The place of the passage in its document, from 0.',
  }),
  highlights: Type.Array(Highlight),
  similar: Count,
  more_in_document: Type.Integer({
    minimum: 0,
    description: 'Further passages of the document that were found and are not in this response.',
  }),
  metadata: Metadata,
  explanation: Type.Optional(Explanation),
};

export const Hit = Type.Object({
  ...hitFields,
  passages: Type.Optional(
    Type.Array(Type.Object(hitFields), {
      description: 'The next passages of the document, if results are grouped by document.',
    }),
  ),
});

const FacetCounts = Type.Array(
  Type.Object({
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
      description: 'A text, or a value of the metadata as it was given.',
    }),
    count: Count,
  }),
);

export const Found = Type.Object({
  results: Type.Array(Hit),
  query_ms: Type.Number(),
  total: Type.Integer({
    minimum: 0,
    description: 'Passages that match, also beyond those that can be paged to.',
  }),
  facets: Type.Record(Type.String(), FacetCounts, {
    description: 'Documents that match, for each requested facet by value, most frequent first.',
  }),
  did_you_mean: nullable(
    Type.String({ description: 'The query with words that occur, for words that do not.' }),
  ),
  reranked: nullable(
    Type.Object(
      {
        model: Type.String(),
        failure: nullable(
          Type.Object(
            { code: Type.String(), detail: Type.String() },
            { description: 'Why the results are in the order without the reranker.' },
          ),
        ),
      },
      { description: 'Null if no reranker is configured, or if there was nothing to order.' },
    ),
  ),
});

export type Hit = Static<typeof Hit>;
export type Found = Static<typeof Found>;
