/** The text of a document with its chunk boundaries. Overlap between chunks is shown lighter. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Chunk } from '../../src/contract/schema/schema.ts';
import { Empty, flowing, Problem, Skeleton } from '../part/basic.tsx';
import { counted } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const chunksPerPage = 200;

export interface ChunkSheetProps {
  readonly documentId: string;
  readonly generation: number;
  readonly chosen: string | undefined;
}

/** Where a page begins: at the start, around a chunk, or after one. */
interface Place {
  readonly around?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The page before the first loaded chunk. */
function placeBefore(first: Chunk | undefined): Place | undefined {
  if (!first || first.ordinal === 0) return undefined;
  const limit = Math.min(first.ordinal, chunksPerPage);
  const last = first.ordinal - limit - 1;
  return { limit, cursor: last < 0 ? undefined : String(last) };
}

export function ChunkSheet({ documentId: id, generation, chosen }: ChunkSheetProps) {
  const { client } = useWorkbench();
  const query = useInfiniteQuery({
    queryKey: ['document', id, 'chunks', generation, chosen],
    initialPageParam: { limit: chunksPerPage, around: chosen } as Place,
    queryFn: ({ pageParam, signal }) =>
      client().ask('GET /documents/:id/chunks', {
        params: { id },
        query: { ...pageParam },
        signal,
      }),
    getPreviousPageParam: ({ items }) => placeBefore(items[0]),
    getNextPageParam: ({ next_cursor: cursor }): Place | undefined =>
      cursor === null ? undefined : { limit: chunksPerPage, cursor },
  });
  const chunks = query.data?.pages.flatMap(({ items }) => items) ?? [];
  if (query.isPending) return <Skeleton lines={12} />;
  if (query.isError && chunks.length === 0) return <Problem error={query.error} />;
  if (chunks.length === 0) return <Empty title="This document has no text" />;
  return (
    <div className="sheet">
      {query.hasPreviousPage && (
        <button type="button" className="button" onClick={() => void query.fetchPreviousPage()}>
          Show earlier chunks
        </button>
      )}
      {chunks.map((chunk, index) => (
        <ChunkView
          key={chunk.chunk_id}
          chunk={chunk}
          before={chunks[index - 1]}
          isChosen={chunk.chunk_id === chosen}
        />
      ))}
      {query.hasNextPage && (
        <button type="button" className="button" onClick={() => void query.fetchNextPage()}>
          Show more
        </button>
      )}
    </div>
  );
}

interface ChunkViewProps {
  readonly chunk: Chunk;
  readonly before: Chunk | undefined;
  readonly isChosen: boolean;
}

function ChunkView({ chunk, before, isChosen }: ChunkViewProps) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'center' });
  }, [isChosen]);
  const shared = overlapOf(chunk, before);
  const text = flowing(chunk.text);
  return (
    <article
      ref={element}
      className={isChosen ? 'chunk chosen' : 'chunk'}
      aria-label={`Chunk ${chunk.ordinal + 1}`}
      dir="auto"
    >
      <div className="chunk-head">
        <span>{`#${chunk.ordinal + 1}`}</span>
        <span>{counted(chunk.tokens, 'token')}</span>
        {chunk.page !== null && <span>{`page ${chunk.page}`}</span>}
        <span className="cut">{chunk.heading.replaceAll(' > ', ' › ')}</span>
      </div>
      {shared > 0 && (
        <span className="overlap" title="Overlap with the previous chunk">
          {text.slice(0, shared)}
        </span>
      )}
      {text.slice(shared)}
    </article>
  );
}

/** The length of the overlap with the previous chunk. Offsets refer to the whole text. */
function overlapOf(chunk: Chunk, before: Chunk | undefined): number {
  if (!before || before.end_offset <= chunk.start_offset) return 0;
  const shared = before.end_offset - chunk.start_offset;
  return before.text.endsWith(chunk.text.slice(0, shared)) ? shared : 0;
}
