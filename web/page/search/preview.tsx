/** The chosen result in its document, beside the results. */
import { Link } from '@tanstack/react-router';
import type { Hit } from '../../../src/contract/schema/schema.ts';
import { shortSource } from '../../part/wording.ts';
import { Reader } from '../document/reader.tsx';

export function Preview({ hit, words }: { hit: Hit; words: string }) {
  const passages = [hit, ...(hit.passages ?? [])];
  const rangesOf = (chunkId: string) =>
    passages.find(({ chunk_id }) => chunk_id === chunkId)?.highlights ?? [];
  return (
    <aside className="card preview" aria-label="Preview">
      <div className="row spread">
        <b className="grow" dir="auto">
          {hit.title ?? shortSource(hit.source_url)}
        </b>
        <Link
          className="button"
          to="/documents/$id"
          params={{ id: hit.document_id }}
          search={{ chunk: hit.chunk_id, q: words }}
        >
          Open
        </Link>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by key */}
      <section className="scroller" aria-label="Text of the chosen result" tabIndex={0}>
        <Reader documentId={hit.document_id} chosen={hit.chunk_id} rangesOf={rangesOf} />
      </section>
    </aside>
  );
}
