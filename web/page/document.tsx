/** One document as a reader: its text with an outline, its chunks, its original, its history. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Document } from '../../src/contract/schema/schema.ts';
import { Problem, Skeleton } from '../part/basic.tsx';
import { Tabs } from '../part/choice.tsx';
import type { DocumentSearch } from '../router.tsx';
import '../style/reading.css';
import '../style/text.css';
import { useWorkbench } from '../workbench.ts';
import { useChunksAround } from './document/chunks-around.ts';
import { Entities } from './document/entities.tsx';
import { useFoundPassages } from './document/found-passages.ts';
import { DocumentHead } from './document/head.tsx';
import { Origin } from './document/origin.tsx';
import { Original } from './document/original.tsx';
import { Outline } from './document/outline.tsx';
import { Reader } from './document/reader.tsx';
import { Runs } from './document/runs.tsx';
import { WordSteps } from './document/word-steps.tsx';
import { ReadInPart } from './read-in-part.tsx';

const tabs = [
  { value: 'reader', name: 'Reader' },
  { value: 'chunks', name: 'Chunks' },
  { value: 'original', name: 'Original' },
  { value: 'history', name: 'History' },
] as const;

export function DocumentPage() {
  const { id } = useParams({ from: '/documents/$id' });
  const asked = useSearch({ from: '/documents/$id' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['document', id],
    queryFn: ({ signal }) => client().ask('GET /documents/:id', { params: { id }, signal }),
  });
  const { data: document } = query;
  return (
    <div className="page">
      {!document && <h1>Document</h1>}
      {query.isPending && <Skeleton lines={10} />}
      {query.isError && !document && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {document && <Shown document={document} asked={asked} />}
    </div>
  );
}

function Shown({ document, asked }: { document: Document; asked: DocumentSearch }) {
  const navigate = useNavigate({ from: '/documents/$id' });
  const { chunk, q, tab = 'reader' } = asked;
  const found = useFoundPassages(document, q);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // An original is shown from its top, however far the text was scrolled. The bar above it
    // sticks, so it is in view at any place. Without scrolling, the title stays in view.
    const isAbove = (top.current?.getBoundingClientRect().top ?? 0) < 0;
    if (tab === 'original' && isAbove) top.current?.scrollIntoView({ block: 'start' });
  }, [tab]);
  const isText = tab === 'reader' || tab === 'chunks';
  return (
    <>
      <DocumentHead document={document} />
      <ReadInPart document={document} />
      <div className="row spread reading-bar">
        <Tabs
          label="Views of the document"
          options={tabs}
          value={tab}
          onChange={(value) =>
            void navigate({
              search: ({ tab: _, ...rest }) =>
                value === 'reader' ? rest : { ...rest, tab: value },
              replace: true,
            })
          }
        />
        {isText && <WordSteps words={q} chosen={chunk} found={found} />}
      </div>
      <div ref={top} className={isText ? 'reading' : 'reading wide'}>
        {isText && <Outline document={document} chosen={chunk} />}
        <section className="card" role="tabpanel" id={`panel-${tab}`} aria-label={nameOf(tab)}>
          <View document={document} asked={{ ...asked, tab }} rangesOf={found.rangesOf} />
        </section>
        <aside className="stack">
          <Origin document={document} />
          <Entities document={document} />
        </aside>
      </div>
    </>
  );
}

function nameOf(tab: string): string {
  return tabs.find(({ value }) => value === tab)?.name ?? tab;
}

interface ViewProps {
  readonly document: Document;
  readonly asked: DocumentSearch;
  readonly rangesOf: ReturnType<typeof useFoundPassages>['rangesOf'];
}

function View({ document, asked: { tab, chunk }, rangesOf }: ViewProps) {
  const { document_id: documentId, generation } = document;
  const place = { documentId, generation, chosen: chunk };
  if (tab === 'history') return <Runs document={document} />;
  if (tab === 'original') return <OriginalAt document={document} chosen={chunk} />;
  return <Reader {...place} rangesOf={rangesOf} isByChunk={tab === 'chunks'} />;
}

/** The page of the chosen passage has to be known before a viewer opens. */
function OriginalAt({ document, chosen }: { document: Document; chosen: string | undefined }) {
  const { document_id: documentId, generation } = document;
  const { query, chunks } = useChunksAround({ documentId, generation, chosen });
  if (query.isPending) return <Skeleton lines={12} />;
  const page = chunks.find(({ chunk_id }) => chunk_id === chosen)?.page ?? null;
  return <Original document={document} page={page} />;
}
