/** Where the text of a document comes from, back to the bytes. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Document } from '../../../src/contract/schema/schema.ts';
import { keptPercent } from '../../../src/kernel/text/kept-share.ts';
import { Badge, type Fact, Facts, Problem, Time } from '../../part/basic.tsx';
import { bytes, count } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';

/** A fact that not every document has. */
function known(name: string, value: ReactNode): Fact[] {
  return value === undefined || value === null ? [] : [{ name, value, isPlain: true }];
}

export function Origin({ document }: { document: Document }) {
  const { client } = useWorkbench();
  const { corpus_name, source_url: url, document_id, generation, kept_share } = document;
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
          ...known('Kept', kept_share === null ? undefined : `${keptPercent(kept_share)} %`),
          { name: 'Language', value: document.language ?? 'unknown', ...plain },
          ...known('Format', origin?.media_type),
          ...known('Original size', origin?.bytes ? bytes(origin.bytes) : undefined),
          ...known('Fetched', fetched ? <Time at={fetched} /> : undefined),
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
