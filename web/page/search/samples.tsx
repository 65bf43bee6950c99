/** Queries that a corpus can answer. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useWorkbench } from '../../workbench.ts';

const samplesMax = 3;

/** Titles of documents make queries that are sure to find something. */
export function Samples({ corpus }: { corpus: string }) {
  const { client } = useWorkbench();
  const { data } = useQuery({
    queryKey: ['documents', corpus, 'samples'],
    queryFn: ({ signal }) =>
      client().ask('GET /corpora/:name/documents', {
        params: { name: corpus },
        query: { limit: 20 },
        signal,
      }),
  });
  const titles = new Set((data?.items ?? []).flatMap(({ title }) => title ?? []));
  const shown = [...titles].slice(0, samplesMax);
  if (shown.length === 0) return null;
  return (
    <p className="row">
      <span className="soft">Try</span>
      {shown.map((q) => (
        <Link key={q} to="/search" search={{ corpus, q }} className="button quiet" dir="auto">
          {q}
        </Link>
      ))}
    </p>
  );
}
