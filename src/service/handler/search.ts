/** Search, and explanations of documents. */
import type { BodyOf, QueryOf } from '../../contract/contract.ts';
import type { SearchFilter } from '../../contract/search-filter.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { FacetCount, Facets } from '../../search/facet.ts';
import { mergeFound } from '../../search/many-corpora.ts';
import type { Reranking } from '../../search/rerank.ts';
import type { StoreHandlers, StoreService } from '../service.ts';
import { hitShape } from '../view/serializer.ts';
import { whyOf } from '../view/why.ts';
import { ownCorpus } from './corpora.ts';

export function searchRoutes(service: StoreService) {
  return {
    ...searchRoute(service),
    'GET /why': async ({ caller, query }) => {
      const { corpus_name: corpus, url, query: words }: QueryOf<'GET /why'> = query;
      const { place, row } = await ownCorpus(service, caller.callerId, corpus);
      return whyOf(service, { ...place, name: row.name, url, query: words });
    },
  } satisfies Partial<StoreHandlers>;
}

type SearchBody = BodyOf<'POST /search'>;

export type Searching = Pick<
  StoreService,
  'database' | 'corpora' | 'searcher' | 'metrics' | 'audit'
>;

/** The only store route of a service that has no other. */
export function searchRoute(service: Searching) {
  const { searcher, metrics, audit } = service;
  return {
    'POST /search': async ({ caller, body }) => {
      const names = corpusNames(body);
      const corpora = await Promise.all(
        names.map((name) => ownCorpus(service, caller.callerId, name)),
      );
      const startedAt = performance.now();
      const request = await requestOf(body);
      const { offset = 0, topK = limits.search.topKDefault } = request;
      const isOne = corpora.length === 1;
      if (!isOne && offset + topK > limits.search.topKMax) throw tooDeep();
      // Each corpus gives as many as could be among the first of all.
      const size = { offset: 0, topK: offset + topK };
      const found = await mapBounded(corpora, async ({ place, row }) => ({
        corpus: row.name,
        found: await searcher.find({
          ...request,
          ...place,
          ...(isOne ? {} : size),
          payer: { caller: caller.callerId, corpus: row.name },
        }),
      }));
      const merged = mergeFound(found, { offset, topK });
      const spanMs = performance.now() - startedAt;
      metrics.seeSearch(spanMs / 1000);
      for (const { corpus, found: one } of found) {
        const results = isOne ? merged.hits.length : one.hits.length;
        audit.emit('corpus_searched', caller, { corpus_name: corpus, results });
      }
      return {
        results: merged.hits.map(({ corpus, hit }) => hitShape(hit, corpus)),
        query_ms: Math.round(spanMs * 10) / 10,
        total: merged.total,
        facets: facetShape(merged.facets),
        did_you_mean: merged.didYouMean,
        reranked: rerankedShape(merged.reranking),
      };
    },
  } satisfies Partial<StoreHandlers>;
}

function rerankedShape(reranking: Reranking | undefined) {
  if (!reranking) return null;
  const { model, failure } = reranking;
  return { model, failure: failure ? { code: failure.code, detail: failure.message } : null };
}

/** One corpus after the other: each may read much at its first search. */
async function mapBounded<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const one of all) results.push(await run(one));
  return results;
}

function tooDeep(): Failure {
  const most = limits.search.topKMax;
  const message = `a search of several corpora reaches the first ${most} results`;
  return new Failure('bad_request', `${message}: lower offset or top_k, or search one corpus`);
}

function corpusNames({ corpus_name: one, corpus_names: several }: SearchBody): string[] {
  if (one !== undefined && several !== undefined) {
    throw new Failure('bad_request', 'a search has corpus_name or corpus_names, not both');
  }
  const names = several ?? (one === undefined ? [] : [one]);
  if (names.length > 0) return [...names];
  throw new Failure('bad_request', 'a search has no corpus: give corpus_name or corpus_names');
}

async function requestOf({ corpus_name: _, corpus_names: __, ...body }: SearchBody) {
  const { top_k: topK, min_score: minScore, filter, ...same } = body;
  return { ...same, topK, minScore, filter: filter && (await filterOf(filter)) };
}

function facetShape(facets: Facets): Record<string, FacetCount[]> {
  return Object.fromEntries(
    Object.entries(facets).map(([name, counts = []]) => [name, counts.map((one) => ({ ...one }))]),
  );
}

/** Loaded on use: the schemas beside it take longer to load than a search takes. */
async function filterOf(filter: SearchFilter) {
  return (await import('../../contract/search-filter.ts')).filterOf(filter);
}
