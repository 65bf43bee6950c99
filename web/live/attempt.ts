/**
 * The one interactive attempt and what is staged for it. The service tells of changes without
 * keeping them: what is shown is read anew, and only the last word on each source is remembered,
 * because a source that has been dealt with is staged no more.
 */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { useWorkbench } from '../workbench.ts';

export type Attempt = AnswerOf<'GET /attempt'>;
export type Staged = AnswerOf<'GET /staging'>['items'][number];

const toldKey = ['told-sources'];

export function useAttempt() {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['attempt'],
    queryFn: ({ signal }) => client().ask('GET /attempt', { signal }),
  });
}

export function useStaging() {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['staging'],
    queryFn: ({ signal }) => client().ask('GET /staging', { signal }),
  });
}

export type ToldSources = ReadonlyMap<string, Staged>;

/** What the stream said last of each source of the attempt that this page has seen. */
export function useToldSources(): ToldSources {
  const { data } = useQuery<ToldSources>({
    queryKey: toldKey,
    queryFn: () => new Map(),
    initialData: new Map(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

export function noteToldSource(queries: QueryClient, source: Staged): void {
  queries.setQueryData<ToldSources>(toldKey, (before) =>
    new Map(before ?? []).set(source.id, source),
  );
}

/** These were taken back; or, where none are named, a new attempt begins. */
export function forgetToldSources(queries: QueryClient, ids?: readonly string[]): void {
  const isKept = ([id]: readonly [string, Staged]): boolean =>
    ids !== undefined && !ids.includes(id);
  queries.setQueryData<ToldSources>(
    toldKey,
    (before) => new Map([...(before ?? [])].filter(isKept)),
  );
}

export async function refreshAttempt(queries: QueryClient): Promise<void> {
  const keys = [['attempt'], ['staging']];
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}
