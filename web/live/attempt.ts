/**
 * The interactive attempt and its staged sources. Change messages of the service carry no history,
 * so the page reads the current state again. Only the last message about each source is kept,
 * because a processed source is no longer staged.
 */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { useWorkbench } from '../workbench.ts';

export type Attempt = AnswerOf<'GET /attempt'>;
export type Staged = AnswerOf<'GET /staging'>['items'][number];

const failures: ReadonlySet<Staged['status']> = new Set(['failed', 'refused']);

/** It waits for a person: it is in no job, so no retry will come. */
export const isStagedFailure = ({ status }: Staged): boolean => failures.has(status);

const messagesKey = ['source-messages'];

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

export type SourceMessages = ReadonlyMap<string, Staged>;

/** The last stream message about each source of the current attempt. */
export function useSourceMessages(): SourceMessages {
  const { data } = useQuery<SourceMessages>({
    queryKey: messagesKey,
    queryFn: () => new Map(),
    initialData: new Map(),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

export function noteSourceMessage(queries: QueryClient, source: Staged): void {
  queries.setQueryData<SourceMessages>(messagesKey, (before) =>
    new Map(before ?? []).set(source.id, source),
  );
}

/** Forgets the named sources after their removal. Without names, a new attempt has begun. */
export function forgetSourceMessages(queries: QueryClient, ids?: readonly string[]): void {
  const isKept = ([id]: readonly [string, Staged]): boolean =>
    ids !== undefined && !ids.includes(id);
  queries.setQueryData<SourceMessages>(
    messagesKey,
    (before) => new Map([...(before ?? [])].filter(isKept)),
  );
}

export async function refreshAttempt(queries: QueryClient): Promise<void> {
  const keys = [['attempt'], ['staging']];
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}
