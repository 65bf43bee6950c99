/** Why an address is, or is not, in the search results. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Why } from '../../src/contract/schema/schema.ts';
import { Badge, Problem, type Tone } from '../part/basic.tsx';
import { words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const tones: Readonly<Record<Why['verdict'], Tone>> = {
  searchable: 'ok',
  replacing: 'run',
  pending: 'run',
  failed: 'bad',
  canceled: 'plain',
  deleted: 'plain',
  unknown: 'warn',
};

export function WhyNot({ corpus, query }: { corpus: string; query: string }) {
  const { client } = useWorkbench();
  const [url, setUrl] = useState('');
  const why = useMutation({
    mutationFn: () =>
      client().ask('GET /why', {
        query: { corpus_name: corpus, url: url.trim(), query: query.trim() || undefined },
      }),
  });
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    if (url.trim() !== '') why.mutate();
  };
  return (
    <section className="card stack" aria-label="Why is a document missing?">
      <h2>Why is a document missing?</h2>
      <form className="row" onSubmit={ask}>
        <label className="field grow">
          <span className="hidden-text">Address or name of the source</span>
          <input
            className="input"
            placeholder="The address or name under which it was added"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        <button type="submit" className="button" disabled={url.trim() === '' || why.isPending}>
          Check
        </button>
      </form>
      {why.isError && <Problem error={why.error} />}
      {why.data && <Answer why={why.data} corpus={corpus} />}
    </section>
  );
}

function Answer({ why, corpus }: { why: Why; corpus: string }) {
  const { document, item, verdict, explanation } = why;
  const score = why.chunk?.score ?? null;
  return (
    <div className="stack tight" role="status">
      <p className="row">
        <Badge tone={tones[verdict]}>{words(verdict)}</Badge> {explanation}
      </p>
      {score !== null && <p className="soft">{`Its best passage scores ${score.toFixed(2)}.`}</p>}
      <p className="row">
        {document && (
          <Link to="/documents/$id" params={{ id: document.document_id }}>
            Open the document
          </Link>
        )}
        {item && (
          <Link to="/jobs/$id" params={{ id: item.job_id }} search={{ item: item.item_id }}>
            Show its last run
          </Link>
        )}
        {verdict === 'unknown' && (
          <Link to="/add" search={{ corpus, url: why.url }}>
            Add it to {corpus}
          </Link>
        )}
      </p>
    </div>
  );
}
