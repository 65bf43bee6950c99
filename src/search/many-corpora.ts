/**
 * The results of one query in several corpora, as one list. The scores of a corpus are relative to
 * its own best hit, so they are multiplied by the relevance of that hit: a corpus that hardly
 * matches comes last, and each keeps its order.
 */
import { addFacets, type Facets } from './facet.ts';
import type { Reranking } from './rerank.ts';
import type { Found, Hit } from './search.ts';

export interface FoundIn<Name> {
  readonly corpus: Name;
  readonly found: Found;
}

export interface MergedFound<Name> {
  readonly hits: readonly { readonly corpus: Name; readonly hit: Hit }[];
  readonly total: number;
  readonly facets: Facets;
  readonly didYouMean: string | null;
  readonly reranking?: Reranking | undefined;
}

export function mergeFound<Name>(
  all: readonly FoundIn<Name>[],
  { offset, topK }: { readonly offset: number; readonly topK: number },
): MergedFound<Name> {
  const [first] = all;
  const merged = all.flatMap(({ corpus, found: { hits } }) => {
    const best = Math.max(0, ...hits.map(({ relevance }) => relevance));
    return hits.map((hit) => ({ corpus, hit, order: hit.score * best }));
  });
  if (all.length > 1) merged.sort((a, b) => b.order - a.order);
  const isFound = all.some(({ found }) => found.hits.length > 0);
  return {
    hits: all.length > 1 ? merged.slice(offset, offset + topK) : merged,
    total: all.reduce((sum, { found }) => sum + found.total, 0),
    facets: addFacets(all.map(({ found }) => found.facets)),
    // A word that one corpus lacks may be in another.
    didYouMean:
      all.length > 1 && isFound
        ? null
        : (all.find(({ found }) => found.didYouMean)?.found.didYouMean ??
          first?.found.didYouMean ??
          null),
    reranking: rerankingOf(all.map(({ found }) => found.reranking)),
  };
}

/** A failure in one corpus wins. */
function rerankingOf(all: readonly (Reranking | undefined)[]): Reranking | undefined {
  return all.find((one) => one?.failure) ?? all.find((one) => one !== undefined);
}
