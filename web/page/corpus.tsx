/** One corpus, and its documents. */
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { memo, useCallback, useMemo, useState } from 'react';
import type { Document } from '../../src/contract/schema/schema.ts';
import { Empty, Facts, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Segments } from '../part/choice.tsx';
import { Confirm } from '../part/dialog.tsx';
import { LongList } from '../part/long-list.tsx';
import { bytes, count, counted, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { PartMark } from './read-in-part.tsx';

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
          Search
        </Link>
        <Link to="/add" search={{ corpus: name }} className="button">
          Add documents
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
            { name: 'Updated', value: <Time at={corpus.updated_at} /> },
            { name: 'Created', value: <Time at={corpus.created_at} /> },
          ]}
        />
      )}
      {corpus && <PartFilter name={name} documents={corpus.documents_partly_read} />}
      {corpus && <Documents name={name} />}
    </div>
  );
}

/** Shown if the list can be filtered, or a filter can be removed. */
function PartFilter({ name, documents }: { name: string; documents: number }) {
  const { partly_read: isPart } = useSearch({ from: '/corpora/$name' });
  const navigate = useNavigate();
  if (documents === 0 && !isPart) return null;
  const choose = (value: 'all' | 'part'): void => {
    const search = value === 'part' ? { partly_read: true } : {};
    void navigate({ to: '/corpora/$name', params: { name }, search, replace: true });
  };
  return (
    <div className="row">
      <Segments
        label="Which documents"
        options={[
          { value: 'all', name: 'All documents' },
          { value: 'part', name: `Partly read (${count(documents)})` },
        ]}
        value={isPart ? 'part' : 'all'}
        onChange={choose}
      />
    </div>
  );
}

function Documents({ name }: { name: string }) {
  const { client } = useWorkbench();
  const { partly_read } = useSearch({ from: '/corpora/$name' });
  const query = useInfiniteQuery({
    queryKey: ['documents', name, partly_read ? 'part' : 'all'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /corpora/:name/documents', {
        params: { name },
        query: { limit: documentsPerPage, cursor, partly_read },
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
  if (rows.length === 0) {
    const nothing = partly_read
      ? 'Every document was read completely'
      : 'No documents are indexed yet';
    return <Empty title={nothing} />;
  }
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

/** Renders only visible rows. */
const DocumentRow = memo(function DocumentRow({ document }: { document: Document }) {
  return (
    <Link to="/documents/$id" params={{ id: document.document_id }} className="document-row">
      <span className="cut">
        <PartMark document={document} />
        {document.title ?? shortSource(document.source_url)}
      </span>
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
      notices.tell(`${name} was deleted with ${counted(deleted, 'document')}.`);
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
          verb="Delete"
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          {counted(documents, 'document')} will be removed from search. This cannot be undone, but
          you can add the sources again.
        </Confirm>
      )}
    </>
  );
}
