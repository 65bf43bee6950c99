/** A list of the API that is read page by page, by its cursor. */
import { keepPreviousData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';

interface PageOf<Row> {
  readonly items: readonly Row[];
  readonly next_cursor: string | null;
}

export interface PagedOptions<Row> {
  readonly key: QueryKey;
  readonly read: (page: {
    readonly cursor: string | undefined;
    readonly signal: AbortSignal;
  }) => Promise<PageOf<Row>>;
  /** The stream of events keeps the list true while it is shown, so it is read only once. */
  readonly isLive?: boolean;
}

/** All rows that were read so far, and `more` while there are others. */
export function usePaged<Row>({ key, read, isLive = false }: PagedOptions<Row>) {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => read({ cursor, signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    ...(isLive && {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
      placeholderData: keepPreviousData,
    }),
  });
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  // Another function after each page, so that a list whose end is seen continues.
  const readOn = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  return { query, rows, more: hasNextPage ? readOn : undefined };
}
