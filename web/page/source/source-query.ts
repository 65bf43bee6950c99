/** Reads sources and their runs. While a run is in progress, they are read again and again. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { AnswerOf } from '../../../src/contract/contract.ts';
import { workedRunStates } from '../../../src/kernel/lifecycle/sync-run.ts';
import { useWorkbench } from '../../workbench.ts';

export type Source = AnswerOf<'GET /sources/:name'>;
export type Run = AnswerOf<'GET /sources/:name/runs/:run'>;

const runningMs = 1000;
/** The runs of the strip. */
export const runsShown = 30;

export const isWorked = ({ state }: Run): boolean => workedRunStates.includes(state);

const pace = (run: Run | null | undefined): number | false =>
  run && isWorked(run) ? runningMs : false;

export function useSources() {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => client().ask('GET /sources', { signal }),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ last_run }) => pace(last_run)) ? runningMs : false,
  });
}

export function useSource(name: string) {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['sources', name],
    queryFn: ({ signal }) => client().ask('GET /sources/:name', { params: { name }, signal }),
    refetchInterval: ({ state }) => pace(state.data?.last_run),
  });
}

/** The newest runs. `changed` makes a list of rows read its own runs again. */
export function useRuns(name: string, changed = '') {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['sources', name, 'runs', changed],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client().ask('GET /sources/:name/runs', {
        params: { name },
        query: { limit: runsShown },
        signal,
      }),
    refetchInterval: ({ state }) => pace(state.data?.items[0]),
  });
}
