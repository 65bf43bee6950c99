/** One corpus, and its documents. */
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { memo, useCallback, useMemo, useState } from 'react';
import type { Document } from '../../src/api/schema.ts';
import { Empty, Facts, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Confirm } from '../part/dialog.tsx';
import { LongList } from '../part/long-list.tsx';
import { bytes, count, counted, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const rowHeight = 36;
const documentsPerPage = 200;

export function CorpusPage() {
  const { name } = useParams({ from: '/corpora/$name' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['corpora', name],
    queryFn: ({ signal }) => client().ask('GET /corpora/:name', { params: { name }, signal }),
  });
  const { data: corpus } = query;
  return (
    <div className="page fills">
      <Link to="/corpora" className="soft small">
        ← Corpora
      </Link>
      <header className="page-head">
        <h1>{name}</h1>
        <Link to="/search" search={{ corpus: name }} className="button">
          Search it
        </Link>
        <Link to="/add" search={{ corpus: name }} className="button">
          Add to it
        </Link>
        {corpus && <DeleteCorpus name={name} documents={corpus.documents} />}
      </header>
      {query.isPending && <Skeleton />}
      {query.isError && !corpus && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {corpus && (
        <Facts
          facts={[
            { name: 'Documents', value: count(corpus.documents) },
            { name: 'Chunks', value: count(corpus.chunks) },
            { name: 'Text', value: bytes(corpus.text_bytes) },
            { name: 'Changed', value: <Time at={corpus.updated_at} /> },
            { name: 'Made', value: <Time at={corpus.created_at} /> },
          ]}
        />
      )}
      {corpus && <Documents name={name} />}
    </div>
  );
}

function Documents({ name }: { name: string }) {
  const { client } = useWorkbench();
  const query = useInfiniteQuery({
    queryKey: ['documents', name],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /corpora/:name/documents', {
        params: { name },
        query: { limit: documentsPerPage, cursor },
        signal,
      }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (query.isPending) return <Skeleton lines={6} />;
  if (query.isError && rows.length === 0) return <Problem error={query.error} />;
  if (rows.length === 0) return <Empty title="Nothing in here is indexed yet" />;
  return (
    <LongList
      label="Documents"
      rows={rows}
      rowHeight={rowHeight}
      keyOf={({ document_id }) => document_id}
      render={(document) => <DocumentRow document={document} />}
      onEnd={readOn}
    />
  );
}

/** Scrolling draws only the rows that come into sight. */
const DocumentRow = memo(function DocumentRow({ document }: { document: Document }) {
  return (
    <Link to="/documents/$id" params={{ id: document.document_id }} className="document-row">
      <span className="cut">{document.title ?? shortSource(document.source_url)}</span>
      <span className="cut soft wide" title={document.source_url}>
        {shortSource(document.source_url)}
      </span>
      <span className="number soft wide">{counted(document.chunks, 'chunk')}</span>
      <span className="number soft wide">{bytes(document.text_bytes)}</span>
      <span className="number soft">
        <Time at={document.updated_at} />
      </span>
    </Link>
  );
});

function DeleteCorpus({ name, documents }: { name: string; documents: number }) {
  const { client, notices, queries } = useWorkbench();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => client().ask('DELETE /corpora/:name', { params: { name } }),
    onSuccess: async ({ deleted }) => {
      notices.tell(`${name} is gone, with ${counted(deleted, 'document')}.`);
      await navigate({ to: '/corpora' });
      await queries.invalidateQueries({ queryKey: ['corpora'] });
    },
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
  return (
    <>
      <button type="button" className="button danger" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete it"
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          {counted(documents, 'document')} will be gone from search. This cannot be undone, but the
          sources can be added again.
        </Confirm>
      )}
    </>
  );
}
