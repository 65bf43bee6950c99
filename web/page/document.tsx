/** One document: its text with its chunks, its entities, and its origin. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Document } from '../../src/contract/schema/schema.ts';
import { Badge, Facts, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Confirm } from '../part/dialog.tsx';
import { bytes, count, linkOf, shortSource } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { ChunkSheet } from './chunk-sheet.tsx';
import { Runs } from './document-runs.tsx';
import { ReadInPart } from './read-in-part.tsx';

export function DocumentPage() {
  const { id } = useParams({ from: '/documents/$id' });
  const { chunk } = useSearch({ from: '/documents/$id' });
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
      {document && (
        <>
          <DocumentHead document={document} />
          <ReadInPart document={document} />
          <div className="split">
            <section className="card" aria-label="Text">
              <ChunkSheet documentId={id} generation={document.generation} chosen={chunk} />
            </section>
            <aside className="stack">
              <Origin document={document} />
              <Entities document={document} />
              <Runs document={document} />
            </aside>
          </div>
        </>
      )}
    </div>
  );
}

function DocumentHead({ document }: { document: Document }) {
  const link = linkOf(document.source_url);
  return (
    <div className="stack tight">
      <Link to="/corpora/$name" params={{ name: document.corpus_name }} className="soft small">
        ← {document.corpus_name}
      </Link>
      <header className="page-head">
        <h1 dir="auto">{document.title ?? shortSource(document.source_url)}</h1>
        {link && (
          <>
            <a className="button" href={link} target="_blank" rel="noreferrer noopener">
              Open source
            </a>
            <Again document={document} />
          </>
        )}
        <DeleteDocument document={document} />
      </header>
      <p className="soft">{document.source_url}</p>
    </div>
  );
}

/** Only an address can be fetched again from here; a file has to be uploaded again. */
function Again({ document }: { document: Document }) {
  const { client, notices } = useWorkbench();
  const navigate = useNavigate();
  const again = useMutation({
    mutationFn: () =>
      client().ask('POST /jobs', {
        body: { corpus_name: document.corpus_name, url: document.source_url, force: true },
      }),
    onSuccess: ({ job_id }) => navigate({ to: '/jobs/$id', params: { id: job_id } }),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
  return (
    <button
      type="button"
      className="button"
      disabled={again.isPending}
      onClick={() => again.mutate()}
    >
      Ingest again
    </button>
  );
}

function DeleteDocument({ document }: { document: Document }) {
  const { client, notices, queries } = useWorkbench();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const { document_id: id, corpus_name: name } = document;
  const remove = useMutation({
    mutationFn: () => client().ask('DELETE /documents/:id', { params: { id } }),
    onSuccess: async () => {
      notices.tell('The document was deleted.');
      await navigate({ to: '/corpora/$name', params: { name } });
      await queries.invalidateQueries({ queryKey: ['documents', name] });
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
          title="Delete this document?"
          verb="Delete"
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          It will be removed from search. This cannot be undone, but you can add it again.
        </Confirm>
      )}
    </>
  );
}

/** The way from the searchable text back to the raw bytes. */
function Origin({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const { corpus_name, source_url: url, document_id, generation } = document;
  const { data, isError, error } = useQuery({
    queryKey: ['document', document_id, 'origin', generation],
    queryFn: ({ signal }) => client().ask('GET /why', { query: { corpus_name, url }, signal }),
  });
  const origin = data?.provenance;
  const fetched = origin?.fetched_at;
  const plain = { isPlain: true };
  return (
    <section className="card stack" aria-label="Origin">
      <div className="row spread">
        <h2>Origin</h2>
        <Badge>{`version ${generation}`}</Badge>
      </div>
      {isError && <Problem error={error} />}
      {data && <p className="soft">{data.explanation}</p>}
      <Facts
        facts={[
          { name: 'Chunks', value: count(document.chunks), ...plain },
          { name: 'Text', value: bytes(document.text_bytes), ...plain },
          { name: 'Language', value: document.language ?? 'unknown', ...plain },
          { name: 'Format', value: origin?.media_type ?? '–', ...plain },
          { name: 'Raw', value: origin?.bytes ? bytes(origin.bytes) : '–', ...plain },
          { name: 'Fetched', value: fetched ? <Time at={fetched} /> : '–', ...plain },
          { name: 'Indexed', value: <Time at={document.updated_at} />, ...plain },
          { name: 'First seen', value: <Time at={document.created_at} />, ...plain },
        ]}
      />
      <p className="small soft">
        Content <code>{document.content_hash.slice(0, 16)}</code>
        {origin?.blob_key && (
          <>
            {', bytes '}
            <code>{origin.blob_key.slice(0, 16)}</code>
          </>
        )}
      </p>
      {origin?.job_id && (
        <Link to="/jobs/$id" params={{ id: origin.job_id }} search={{ item: origin.item_id }}>
          Run that created this version
        </Link>
      )}
    </section>
  );
}

const entitiesMax = 60;

function Entities({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const { document_id: id, generation } = document;
  const { data, isError, error } = useQuery({
    queryKey: ['document', id, 'entities', generation],
    queryFn: ({ signal }) =>
      client().ask('GET /documents/:id/entities', {
        params: { id },
        query: { limit: entitiesMax },
        signal,
      }),
  });
  return (
    <section className="card stack" aria-label="Entities">
      <h2>Entities</h2>
      {isError && <Problem error={error} />}
      {data?.items.length === 0 && <p className="soft">None found.</p>}
      <div className="row">
        {data?.items.map(({ kind, name, mentions }) => (
          <span key={`${kind} ${name}`} title={kind}>
            <Badge>{mentions > 1 ? `${name} × ${mentions}` : name}</Badge>
          </span>
        ))}
      </div>
      {data?.next_cursor && <p className="soft small">{`The first ${entitiesMax} are shown.`}</p>}
    </section>
  );
}
