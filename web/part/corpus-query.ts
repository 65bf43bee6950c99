import { useQuery } from '@tanstack/react-query';
import { useWorkbench } from '../workbench.ts';

export function useCorpora() {
  const { client } = useWorkbench();
  return useQuery({
    queryKey: ['corpora'],
    queryFn: ({ signal }) => client().ask('GET /corpora', { signal }),
  });
}
