/** The chunks of a document around a chosen one, at any depth, with more in both directions. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Chunk } from '../../../src/contract/schema/schema.ts';
import { useWorkbench } from '../../workbench.ts';

export interface ChunkPlace {
  readonly documentId: string;
  /** Absent: the current one. */
  readonly generation?: number | undefined;
  readonly chosen: string | undefined;
}

const chunksPerPage = 100;

/** Where a page begins: at the start, around a chunk, or after one. */
interface Begin {
  readonly around?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The page before the first loaded chunk. */
function beginBefore(first: Chunk | undefined): Begin | undefined {
  if (!first || first.ordinal === 0) return undefined;
  const limit = Math.min(first.ordinal, chunksPerPage);
  const last = first.ordinal - limit - 1;
  return { limit, cursor: last < 0 ? undefined : String(last) };
}

export function useChunksAround({ documentId: id, generation, chosen }: ChunkPlace) {
  const { client } = useWorkbench();
  const query = useInfiniteQuery({
    queryKey: ['document', id, 'chunks', generation, chosen],
    initialPageParam: { limit: chunksPerPage, around: chosen } as Begin,
    queryFn: ({ pageParam, signal }) =>
      client().ask('GET /documents/:id/chunks', {
        params: { id },
        query: { ...pageParam },
        signal,
      }),
    getPreviousPageParam: ({ items }) => beginBefore(items[0]),
    getNextPageParam: ({ next_cursor: cursor }): Begin | undefined =>
      cursor === null ? undefined : { limit: chunksPerPage, cursor },
  });
  return { query, chunks: query.data?.pages.flatMap(({ items }) => items) ?? [] };
}

/** The length of the overlap with the previous chunk. Offsets refer to the whole text. */
export function overlapOf(chunk: Chunk, before: Chunk | undefined): number {
  if (!before || before.end_offset <= chunk.start_offset) return 0;
  const shared = before.end_offset - chunk.start_offset;
  return before.text.endsWith(chunk.text.slice(0, shared)) ? shared : 0;
}
