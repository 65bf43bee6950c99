/** The results of a search, page by page. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Found, Hit } from '../../../src/contract/schema/schema.ts';
import { limits } from '../../../src/kernel/limits/limits.ts';
import { useSettled } from '../../part/settled.ts';
import { useWorkbench } from '../../workbench.ts';
import { type Asked, facets, searchBody } from './request.ts';

const resultsPerPage = 20;
const settledMs = 120;

export interface FoundResults {
  /** The same for the same search, also when its results are read again. */
  readonly key: string;
  readonly first: Found | undefined;
  readonly hits: readonly Hit[];
  readonly error: unknown;
  readonly isEmpty: boolean;
  /** The results are those of an earlier query, until those of this one arrive. */
  readonly isStale: boolean;
  readonly isLoading: boolean;
  readonly more: (() => void) | undefined;
  readonly again: () => void;
}

export function useFound(asked: Asked): FoundResults {
  const { client } = useWorkbench();
  // The same text for the same search, so that it settles.
  const text = JSON.stringify(searchBody(asked));
  const settled = useSettled(text, settledMs);
  const body = useMemo(() => JSON.parse(settled) as ReturnType<typeof searchBody>, [settled]);
  const isEmpty = asked.q.trim() === '' || asked.corpora.length === 0;
  const query = useInfiniteQuery({
    queryKey: ['search', settled],
    enabled: !isEmpty && body.query !== '',
    placeholderData: keepPreviousData,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      client().ask('POST /search', {
        body: {
          ...body,
          offset,
          top_k: resultsPerPage,
          group: 'document',
          ...(offset === 0 && { facets: [...facets] }),
        },
        signal,
      }),
    getNextPageParam: ({ results }, pages) => {
      const next = pages.reduce((sum, page) => sum + page.results.length, 0);
      const isLast = results.length < resultsPerPage || next + resultsPerPage > depthMax(body);
      return isLast ? undefined : next;
    },
  });
  const pages = query.data?.pages ?? [];
  return {
    key: settled,
    first: pages[0],
    hits: pages.flatMap(({ results }) => results),
    error: query.isError ? query.error : undefined,
    isEmpty,
    isStale: pages.length > 0 && (settled !== text || query.isPlaceholderData),
    isLoading: query.isPending,
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
    again: () => void query.refetch(),
  };
}

/** Several corpora are searched from their start for each page. */
function depthMax({ corpus_names }: ReturnType<typeof searchBody>): number {
  return corpus_names ? limits.search.topKMax : limits.search.offsetMax;
}
