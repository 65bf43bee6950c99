/** What the service already knows about addresses. */
import { useQuery } from '@tanstack/react-query';
import type { Why } from '../../src/contract/schema/schema.ts';
import { Failure } from '../../src/kernel/failure/failure.ts';
import { useWorkbench } from '../workbench.ts';

const askedMax = 20;

const knowns: Readonly<Record<Why['verdict'], string>> = {
  searchable: 'already in the corpus: fetched again, replaced if changed',
  replacing: 'is being read now',
  pending: 'is already queued',
  failed: 'failed before: will be tried again',
  canceled: 'was canceled before',
  deleted: 'was deleted before: will be added again',
  unknown: 'new',
};

/** Only the first few addresses are looked up, and only in an existing corpus. */
export function useKnown(names: readonly string[], corpus: string) {
  const { client } = useWorkbench();
  const asked = names.slice(0, askedMax);
  const { data } = useQuery({
    queryKey: ['preflight', corpus, asked],
    enabled: asked.length > 0 && corpus !== '',
    retry: false,
    queryFn: async ({ signal }) => {
      const known = new Map<string, string>();
      for (const url of asked) {
        const query = { corpus_name: corpus, url };
        const why = await client()
          .ask('GET /why', { query, signal })
          .catch((error: unknown) => {
            if (error instanceof Failure && error.code === 'corpus_unknown') return undefined;
            throw error;
          });
        known.set(url, knowns[why?.verdict ?? 'unknown']);
      }
      return known;
    },
  });
  return data;
}
