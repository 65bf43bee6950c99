/** One corpus, and its documents. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { AnswerOf } from '../../src/contract/contract.ts';
import { Facts, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Segments } from '../part/choice.tsx';
import { bytes, count } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { CorpusAbout } from './corpus-about.tsx';
import { DeleteCorpus } from './corpus-delete.tsx';
import { Documents } from './corpus-documents.tsx';
import '../style/corpus.css';
import '../style/reading.css';

const tabs = [
  { value: 'documents', name: 'Documents' },
  { value: 'about', name: 'Entities and budget' },
] as const;

export function CorpusPage() {
  const { name } = useParams({ from: '/corpora/$name' });
  const { tab = 'documents' } = useSearch({ from: '/corpora/$name' });
  const navigate = useNavigate({ from: '/corpora/$name' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['corpora', name],
    queryFn: ({ signal }) => client().ask('GET /corpora/:name', { params: { name }, signal }),
  });
  const { data: corpus } = query;
  return (
    <div className={tab === 'about' ? 'page' : 'page fills'}>
      <Link to="/corpora" className="soft small">
        ← Corpora
      </Link>
      <header className="page-head">
        <h1>{name}</h1>
        <Link to="/search" search={{ corpus: name }} className="button">
          Search
        </Link>
        <Link to="/add" search={{ corpus: name }} className="button">
          Add documents
        </Link>
        {corpus && <DeleteCorpus name={name} documents={corpus.documents} />}
      </header>
      {query.isPending && <Skeleton />}
      {query.isError && !corpus && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {corpus && <Size corpus={corpus} />}
      {corpus && (
        <div className="row">
          <Segments
            label="Part of the corpus"
            options={tabs}
            value={tab}
            onChange={(value) =>
              void navigate({ search: { tab: value === 'about' ? value : undefined } })
            }
          />
        </div>
      )}
      {corpus && tab === 'about' && <CorpusAbout corpus={corpus} />}
      {corpus && tab === 'documents' && (
        <Documents
          name={name}
          documents={corpus.documents}
          partlyRead={corpus.documents_partly_read}
          canDelete={corpus.access !== 'read'}
        />
      )}
    </div>
  );
}

function Size({ corpus }: { corpus: AnswerOf<'GET /corpora/:name'> }) {
  return (
    <Facts
      facts={[
        { name: 'Documents', value: count(corpus.documents) },
        { name: 'Chunks', value: count(corpus.chunks) },
        { name: 'Text', value: bytes(corpus.text_bytes) },
        { name: 'Updated', value: <Time at={corpus.updated_at} /> },
        { name: 'Created', value: <Time at={corpus.created_at} /> },
      ]}
    />
  );
}
