/** Search, and explanations of documents. */
import type { QueryOf } from '../../contract/contract.ts';
import type { SearchFilter } from '../../contract/search-filter.ts';
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

export type Searching = Pick<
  StoreService,
  'database' | 'corpora' | 'searcher' | 'metrics' | 'audit'
>;

/** The only store route of a service that has no other. */
export function searchRoute(service: Searching) {
  const { searcher, metrics, audit } = service;
  return {
    'POST /search': async ({ caller, body }) => {
      const { corpus_name: corpus, query, top_k: topK, mode, explain, filter } = body;
      const { place, row } = await ownCorpus(service, caller.callerId, corpus);
      const startedAt = performance.now();
      const hits = await searcher.search({
        ...place,
        query,
        topK,
        mode,
        explain,
        filter: filter && (await filterOf(filter)),
      });
      const spanMs = performance.now() - startedAt;
      metrics.seeSearch(spanMs / 1000);
      audit.emit('corpus_searched', caller, { corpus_name: row.name, results: hits.length });
      return { results: hits.map(hitShape), query_ms: Math.round(spanMs * 10) / 10 };
    },
  } satisfies Partial<StoreHandlers>;
}

/** Loaded on use: the schemas beside it take longer to load than a search takes. */
async function filterOf(filter: SearchFilter) {
  return (await import('../../contract/search-filter.ts')).filterOf(filter);
}
