/** The title of a document, and what can be done with it. */
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Document } from '../../../src/contract/schema/schema.ts';
import { Confirm } from '../../part/dialog.tsx';
import { linkOf, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

export function DocumentHead({ document }: { document: Document }) {
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
            <IngestAgain document={document} />
          </>
        )}
        {uploadedName(document) !== undefined && <ReplaceFile document={document} />}
        <DeleteDocument document={document} />
      </header>
      <p className="soft long-name" dir="ltr">
        {link ?? shortSource(document.source_url)}
      </p>
    </div>
  );
}

/** Undefined: it was not uploaded. */
function uploadedName({ source_url: source }: Document): string | undefined {
  return source.startsWith('upload:') ? source.slice('upload:'.length) : undefined;
}

/** Follows the job that an action has submitted. */
function useJob(submit: () => Promise<{ readonly job_id: string }>) {
  const { notices } = useWorkbench();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: submit,
    onSuccess: ({ job_id }) => navigate({ to: '/jobs/$id', params: { id: job_id } }),
    onError: (error) => notices.tell(error.message, { tone: 'bad' }),
  });
}

/** Only an address can be fetched again from here; a file has to be uploaded again. */
function IngestAgain({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const [isAsking, setAsking] = useState(false);
  const { corpus_name, source_url: url } = document;
  const again = useJob(() =>
    client().ask('POST /jobs', { body: { corpus_name, url, force: true } }),
  );
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={again.isPending}
        onClick={() => setAsking(true)}
      >
        Ingest again
      </button>
      {isAsking && (
        <Confirm
          title="Fetch this document again?"
          verb="Ingest again"
          onConfirm={() => again.mutate()}
          onClose={() => setAsking(false)}
        >
          It is fetched and read again. Until the new version is searchable, this one is found.
        </Confirm>
      )}
    </>
  );
}

function ReplaceFile({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const [file, setFile] = useState<File>();
  const { corpus_name } = document;
  const name = uploadedName(document) ?? '';
  const replace = useJob(() =>
    client().upload({ corpus_name, files: file ? [{ name, blob: file }] : [], force: true }),
  );
  return (
    <>
      <label className="button chooser">
        Replace file
        <input
          type="file"
          disabled={replace.isPending}
          onChange={({ target }) => {
            setFile(target.files?.[0]);
            // Choosing the same file again is a change, too.
            target.value = '';
          }}
        />
      </label>
      {file && (
        <Confirm
          title="Replace this document?"
          verb="Replace"
          onConfirm={() => replace.mutate()}
          onClose={() => setFile(undefined)}
        >
          <p>
            <b>{file.name}</b> becomes the new version of <b>{name}</b>. Until it is searchable,
            this version is found.
          </p>
        </Confirm>
      )}
    </>
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
      <button
        type="button"
        className="button danger"
        disabled={remove.isPending}
        onClick={() => setAsking(true)}
      >
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
