/** The passages of a document that have words of a query, in the order of the text. */
import { useQuery } from '@tanstack/react-query';
import type { Document, Hit } from '../../../src/contract/schema/schema.ts';
import { useWorkbench } from '../../workbench.ts';

export interface FoundPassages {
  readonly passages: readonly Hit[];
  readonly rangesOf: (chunkId: string) => Hit['highlights'];
}

export const passagesMax = 100;
const none: FoundPassages = { passages: [], rangesOf: () => [] };

export function useFoundPassages(document: Document, words: string | undefined): FoundPassages {
  const { client } = useWorkbench();
  const { document_id: id, corpus_name, generation } = document;
  const query = words?.trim() ?? '';
  const { data } = useQuery({
    queryKey: ['document', id, 'passages', generation, query],
    enabled: query !== '',
    queryFn: ({ signal }) =>
      client().ask('POST /search', {
        body: {
          corpus_name,
          query,
          filter: { document_id: id },
          group: false,
          top_k: passagesMax,
        },
        signal,
      }),
    select: ({ results }): FoundPassages => {
      const passages = results
        .filter(({ highlights }) => highlights.length > 0)
        .sort((a, b) => a.ordinal - b.ordinal);
      const ranges = new Map(passages.map((one) => [one.chunk_id, one.highlights]));
      return { passages, rangesOf: (chunkId) => ranges.get(chunkId) ?? [] };
    },
  });
  return query === '' ? none : (data ?? none);
}
