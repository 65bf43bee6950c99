/** The headings of a document. Each leads to its first chunk, however far away. */
import { Link } from '@tanstack/react-router';
import type { Document, Section } from '../../../src/contract/schema/schema.ts';
import { Problem, Skeleton } from '../../part/basic.tsx';
import { usePaged } from '../../part/paged.ts';
import { useWorkbench } from '../../workbench.ts';

const sectionsPerPage = 200;
const separator = ' > ';
const depthMax = 4;

export function Outline({ document, chosen }: { document: Document; chosen: string | undefined }) {
  const { client } = useWorkbench();
  const { document_id: id, generation } = document;
  const { query, rows, more } = usePaged<Section>({
    key: ['document', id, 'outline', generation],
    read: ({ cursor, signal }) =>
      client().ask('GET /documents/:id/outline', {
        params: { id },
        query: { limit: sectionsPerPage, cursor },
        signal,
      }),
  });
  const named = rows.filter(({ heading }) => heading !== '');
  if (query.isSuccess && named.length === 0 && !more) return null;
  return (
    <nav className="card stack tight outline" aria-label="Outline">
      <h2>Outline</h2>
      {query.isPending && <Skeleton lines={4} />}
      {query.isError && rows.length === 0 && <Problem error={query.error} />}
      <ol>
        {named.map((section) => (
          <li
            key={section.chunk_id}
            style={{ paddingInlineStart: `${depthOf(section) * 0.75}rem` }}
          >
            <Link
              from="/documents/$id"
              to="."
              search={(all) => ({ ...all, chunk: section.chunk_id })}
              replace
              aria-current={section.chunk_id === chosen ? 'location' : undefined}
              title={section.heading.replaceAll(separator, ' › ')}
              dir="auto"
            >
              {section.heading.split(separator).at(-1)}
            </Link>
            {section.page !== null && <span className="soft small">{`p. ${section.page}`}</span>}
          </li>
        ))}
      </ol>
      {more && (
        <button type="button" className="button" onClick={more}>
          More headings
        </button>
      )}
    </nav>
  );
}

function depthOf({ heading }: Section): number {
  return Math.min(heading.split(separator).length - 1, depthMax);
}
