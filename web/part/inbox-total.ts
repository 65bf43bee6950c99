/** How many documents need a person, counted once for all parts of the page. */
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { isStagedFailure, useStaging } from '../live/attempt.ts';
import { useWorkbench } from '../workbench.ts';

/** Failed documents without discarded ones, and sources that an import did not add. */
export function useInboxTotal(): number {
  const { client } = useWorkbench();
  const { data } = useQuery({
    queryKey: ['inbox-count'],
    queryFn: ({ signal }) => client().ask('GET /inbox', { query: { limit: 1 }, signal }),
  });
  const leftOf = useLeftOf();
  const staged = useStaging().data?.items.filter(isStagedFailure).length ?? 0;
  return leftOf(data?.causes ?? []).reduce((sum, { count }) => sum + count, staged);
}

export function useLeftOf() {
  const { discards } = useWorkbench();
  return useSyncExternalStore(discards.listen, () => discards.leftOf);
}
