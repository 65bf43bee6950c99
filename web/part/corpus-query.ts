import { useInfiniteQuery } from '@tanstack/react-query';
import { useWorkbench } from '../workbench.ts';

const corporaPerPage = 200;

/** The first page is enough for a menu; the page of corpora loads more. */
export function useCorpora() {
  const { client } = useWorkbench();
  return useInfiniteQuery({
    queryKey: ['corpora'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /corpora', { query: { limit: corporaPerPage, cursor }, signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items) }),
  });
}
