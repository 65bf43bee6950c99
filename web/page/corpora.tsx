/** All corpora with their size and age. */
import { Link } from '@tanstack/react-router';
import type { Corpus } from '../../src/contract/schema/schema.ts';
import { Empty, Problem, Skeleton, Time, Wide } from '../part/basic.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { bytes, count } from '../part/wording.ts';

export function CorporaPage() {
  const { data, isPending, isError, error, refetch, ...paging } = useCorpora();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Corpora</h1>
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      </header>
      {isPending && <Skeleton lines={5} />}
      {isError && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.items.length === 0 && (
        <Empty
          title="No corpora yet"
          next={
            <Link to="/add" className="button primary">
              Add documents
            </Link>
          }
        >
          A corpus is a set of documents that are searched together. It is created with its first
          document.
        </Empty>
      )}
      {data && data.items.length > 0 && <CorpusTable corpora={data.items} />}
      {paging.hasNextPage && (
        <button
          type="button"
          className="button"
          disabled={paging.isFetchingNextPage}
          onClick={() => void paging.fetchNextPage()}
        >
          Show more
        </button>
      )}
    </div>
  );
}

function CorpusTable({ corpora }: { corpora: readonly Corpus[] }) {
  return (
    <div className="card flush">
      <Wide label="All corpora">
        <table className="table">
          <thead>
            <tr>
              <th>Name</th>
              <th className="number">Documents</th>
              <th className="number wide">Chunks</th>
              <th className="number wide">Text</th>
              <th className="number">Updated</th>
              <th>
                <span className="hidden-text">Search</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {corpora.map((corpus) => (
              <tr key={corpus.name}>
                <td>
                  <Link to="/corpora/$name" params={{ name: corpus.name }}>
                    {corpus.name}
                  </Link>
                </td>
                <td className="number">{count(corpus.documents)}</td>
                <td className="number wide">{count(corpus.chunks)}</td>
                <td className="number wide">{bytes(corpus.text_bytes)}</td>
                <td className="number">
                  <Time at={corpus.updated_at} />
                </td>
                <td className="number">
                  <Link to="/search" search={{ corpus: corpus.name }}>
                    Search
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </div>
  );
}
