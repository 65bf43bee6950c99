/** The documents of a corpus: found, sorted, selected and deleted. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import {
  memo,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useState,
} from 'react';
import type { Document } from '../../src/contract/schema/schema.ts';
import { Empty, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Menu, Segments } from '../part/choice.tsx';
import { LongList } from '../part/long-list.tsx';
import { bytes, count, counted, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { arranged, type DocumentOrder, orders } from './document-order.ts';
import { PartMark } from './read-in-part.tsx';
import { SelectionBar } from './selection-bar.tsx';

const rowHeight = 36;
const documentsPerPage = 200;
/** Finding, sorting and selecting all read the whole list, up to this many documents. */
const wholeMax = 20_000;
/** A list of this size is sorted from the start. */
const sortedMax = 1000;

export interface DocumentsProps {
  readonly name: string;
  readonly documents: number;
  readonly partlyRead: number;
  readonly canDelete: boolean;
}

export function Documents({ name, documents, partlyRead, canDelete }: DocumentsProps) {
  const [find, setFind] = useState('');
  const [order, setOrder] = useState<DocumentOrder>(documents <= sortedMax ? 'title' : 'stored');
  const [selection, setSelection] = useState<ReadonlySet<string> | 'all'>(new Set());
  const wanted = useDeferredValue(find.trim());
  const isWhole = wanted !== '' || order !== 'stored' || selection === 'all';
  const { query, rows, readOn } = useDocuments(name, isWhole);
  const shown = useMemo(() => arranged(rows, { find: wanted, order }), [rows, wanted, order]);
  const listed = useListedCount({ documents, partlyRead });
  const isReading = isWhole && query.hasNextPage && rows.length < wholeMax;
  const selected = useMemo(
    () => (selection === 'all' ? new Set(shown.map(idOf)) : selection),
    [selection, shown],
  );
  if (query.isPending) return <Skeleton lines={6} />;
  if (query.isError && rows.length === 0) return <Problem error={query.error} />;
  const toggle = (id: string): void => setSelection(toggled(selected, id));
  return (
    <>
      <DocumentsBar find={find} order={order} onFind={setFind} onOrder={setOrder}>
        <PartFilter name={name} documents={partlyRead} />
      </DocumentsBar>
      <div className="row" role="status">
        <span className="soft">
          {wanted !== '' && `${counted(shown.length, 'document')} of ${count(rows.length)}. `}
          {isReading && 'Reading the list… '}
          {isWhole && !isReading && query.hasNextPage && cutShort(rows.length)}
        </span>
        {canDelete && shown.length > 0 && (
          <SelectionBar
            corpus={name}
            total={wanted === '' ? Math.min(listed, wholeMax) : shown.length}
            isReading={isReading}
            selected={selected}
            onSelect={setSelection}
          />
        )}
      </div>
      {shown.length === 0 && !isReading && <Nothing isFound={rows.length > 0} />}
      {shown.length > 0 && (
        <LongList
          label="Documents"
          rows={shown}
          rowHeight={rowHeight}
          keyOf={idOf}
          render={(document) => (
            <DocumentRow
              document={document}
              isSelected={selected.has(document.document_id)}
              onToggle={canDelete ? toggle : undefined}
            />
          )}
          onEnd={isWhole ? undefined : readOn}
        />
      )}
    </>
  );
}

interface DocumentsBarProps {
  readonly find: string;
  readonly order: DocumentOrder;
  readonly onFind: (find: string) => void;
  readonly onOrder: (order: DocumentOrder) => void;
  readonly children: ReactNode;
}

function DocumentsBar({ find, order, onFind, onOrder, children }: DocumentsBarProps) {
  return (
    <div className="row documents-bar">
      <label className="field grow">
        <span>Find by title or address</span>
        <input
          type="search"
          className="input"
          value={find}
          onChange={({ target }) => onFind(target.value)}
        />
      </label>
      <Menu
        label="Sort"
        options={orders}
        value={order}
        onChange={(value) => onOrder(value as DocumentOrder)}
      />
      {children}
    </div>
  );
}

const cutShort = (listed: number): string =>
  `The first ${count(listed)} documents are listed. Search finds the others.`;

const idOf = ({ document_id }: Document): string => document_id;

/** The length of the whole list, of which only a part may have been read. */
function useListedCount({
  documents,
  partlyRead,
}: Pick<DocumentsProps, 'documents' | 'partlyRead'>): number {
  const { partly_read: isPart } = useSearch({ from: '/corpora/$name' });
  return isPart ? partlyRead : documents;
}

function useDocuments(name: string, isWhole: boolean) {
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
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query;
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isWanted = isWhole && !isError && rows.length < wholeMax;
  useEffect(() => {
    if (isWanted) readOn();
  }, [isWanted, readOn]);
  return { query, rows, readOn };
}

function Nothing({ isFound }: { isFound: boolean }) {
  const { partly_read } = useSearch({ from: '/corpora/$name' });
  if (isFound) return <Empty title="No document matches" />;
  if (partly_read) return <Empty title="Every document was read completely" />;
  return <Empty title="No documents are indexed yet" />;
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
    <Segments
      label="Which documents"
      options={[
        { value: 'all', name: 'All documents' },
        { value: 'part', name: `Partly read (${count(documents)})` },
      ]}
      value={isPart ? 'part' : 'all'}
      onChange={choose}
    />
  );
}

interface DocumentRowProps {
  readonly document: Document;
  readonly isSelected: boolean;
  readonly onToggle: ((id: string) => void) | undefined;
}

/** Renders only visible rows. */
const DocumentRow = memo(function DocumentRow(props: DocumentRowProps) {
  const { document, isSelected, onToggle } = props;
  const title = document.title ?? shortSource(document.source_url);
  return (
    <div className={isSelected ? 'selectable selected' : 'selectable'}>
      {onToggle && (
        <input
          type="checkbox"
          aria-label={`Select ${title}`}
          checked={isSelected}
          onChange={() => onToggle(document.document_id)}
        />
      )}
      <Link to="/documents/$id" params={{ id: document.document_id }} className="document-row">
        <span className="cut" dir="auto">
          <PartMark document={document} />
          {title}
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
    </div>
  );
});

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
