/** The text of a document, as one text or chunk by chunk, with the chosen passage marked. */
import { useEffect, useRef } from 'react';
import type { Chunk } from '../../../src/contract/schema/schema.ts';
import { Empty, Problem, Skeleton } from '../../part/basic.tsx';
import { Prose } from '../../part/prose/prose.tsx';
import type { Range } from '../../part/prose/source-map.ts';
import { counted } from '../../part/wording.ts';
import { type ChunkPlace, overlapOf, useChunksAround } from './chunks-around.ts';

export interface ReaderProps extends ChunkPlace {
  readonly rangesOf: (chunkId: string) => readonly Range[];
  /** Shows where chunks begin and what they share, instead of one text. */
  readonly isByChunk?: boolean;
}

export function Reader({ rangesOf, isByChunk = false, ...place }: ReaderProps) {
  const { query, chunks } = useChunksAround(place);
  if (query.isPending) return <Skeleton lines={12} />;
  if (query.isError && chunks.length === 0) {
    return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (chunks.length === 0) return <Empty title="This document has no text" />;
  return (
    <div className={isByChunk ? 'sheet by-chunk' : 'sheet'}>
      {query.hasPreviousPage && (
        <button
          type="button"
          className="button"
          disabled={query.isFetchingPreviousPage}
          onClick={() => void query.fetchPreviousPage()}
        >
          Show earlier chunks
        </button>
      )}
      {chunks.map((chunk, index) => (
        <ChunkView
          key={chunk.chunk_id}
          chunk={chunk}
          before={chunks[index - 1]}
          isChosen={chunk.chunk_id === place.chosen}
          isByChunk={isByChunk}
          ranges={rangesOf(chunk.chunk_id)}
        />
      ))}
      {query.hasNextPage && (
        <button
          type="button"
          className="button"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
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
  readonly isByChunk: boolean;
  readonly ranges: readonly Range[];
}

function ChunkView({ chunk, before, isChosen, isByChunk, ranges }: ChunkViewProps) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen && element.current) show(element.current);
  }, [isChosen]);
  const shared = overlapOf(chunk, before);
  const isNewPage = chunk.page !== null && chunk.page !== before?.page;
  return (
    <article
      ref={element}
      className={isChosen ? 'chunk chosen' : 'chunk'}
      aria-label={`Chunk ${chunk.ordinal + 1}`}
      aria-current={isChosen || undefined}
    >
      {isByChunk ? (
        <ChunkHead chunk={chunk} />
      ) : (
        isNewPage && <p className="page-mark">{`page ${chunk.page}`}</p>
      )}
      {isByChunk && shared > 0 && (
        <p className="overlap" title="Shared with the previous chunk" dir="auto">
          {chunk.text.slice(0, shared)}
        </p>
      )}
      <ChunkText text={chunk.text} from={shared} ranges={ranges} />
    </article>
  );
}

/** In a part that scrolls by itself, the page around it stays where it is. */
function show(element: HTMLElement): void {
  const scroller = element.closest('.scroller');
  if (!scroller) {
    element.scrollIntoView({ block: 'center' });
    return;
  }
  const [inside, outside] = [element.getBoundingClientRect(), scroller.getBoundingClientRect()];
  scroller.scrollTop += inside.top - outside.top - scroller.clientHeight / 4;
}

/** Without what the chunk before it has shown already. */
function ChunkText({
  text,
  from,
  ranges,
}: {
  text: string;
  from: number;
  ranges: readonly Range[];
}) {
  if (from === 0) return <Prose text={text} ranges={ranges} />;
  const rest = ranges
    .filter(({ start }) => start >= from)
    .map(({ start, end }) => ({ start: start - from, end: end - from }));
  return <Prose text={text.slice(from)} ranges={rest} />;
}

function ChunkHead({ chunk }: { chunk: Chunk }) {
  return (
    <div className="chunk-head">
      <span>{`#${chunk.ordinal + 1}`}</span>
      <span>{counted(chunk.tokens, 'token')}</span>
      {chunk.page !== null && <span>{`page ${chunk.page}`}</span>}
      <span className="cut" dir="auto">
        {chunk.heading.replaceAll(' > ', ' › ')}
      </span>
    </div>
  );
}
