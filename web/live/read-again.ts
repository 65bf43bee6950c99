/**
 * Reads queries again after a change. The response of a load that is still running may be older
 * than the change.
 */
import type { Query, QueryClient, QueryFilters } from '@tanstack/react-query';

/** An invalidation cancels a running load, but only joins a first one: that has to end before. */
export async function readAgain(queries: QueryClient, filters: QueryFilters = {}): Promise<void> {
  const predicate = (query: Query): boolean =>
    query.state.data === undefined && (filters.predicate?.(query) ?? true);
  await untilLoaded(queries, { ...filters, predicate });
  await queries.invalidateQueries(filters);
}

/** Waits for the loads that are still running. */
export async function untilLoaded(queries: QueryClient, filters: QueryFilters): Promise<void> {
  await queries.refetchQueries({ ...filters, fetchStatus: 'fetching' }, { cancelRefetch: false });
}
