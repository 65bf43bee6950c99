/** The first page: what Pawl is, a search box, what needs attention, and what is running. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Corpus } from '../../../src/contract/schema/schema.ts';
import { jobState } from '../../../src/kernel/lifecycle/job.ts';
import { Problem, Skeleton, Time } from '../../part/basic.tsx';
import { useCorpora } from '../../part/corpus-query.ts';
import { useInboxTotal } from '../../part/inbox-total.ts';
import { messageOf } from '../../part/job-badge.ts';
import { Meter, StatusIcon } from '../../part/status.tsx';
import { count, counted, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import { HomeSearch } from './home-search.tsx';

const corporaShown = 8;
const jobsShown = 5;

export function HomePage() {
  const corpora = useCorpora();
  const all = corpora.data?.items ?? [];
  const recent = all.toSorted((a, b) => (b.updated_at ?? '').localeCompare(a.updated_at ?? ''));
  const largest = all.toSorted((a, b) => b.documents - a.documents)[0];
  return (
    <div className="page home">
      <header className="page-head">
        <h1>Home</h1>
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      </header>
      <p className="lead">
        Pawl turns files, folders and sites into passages that you can search. Every document is
        followed step by step, and nothing is lost on the way.
      </p>
      {corpora.isPending && <Skeleton lines={4} />}
      {corpora.isError && !corpora.data && (
        <Problem error={corpora.error} onRetry={() => void corpora.refetch()} />
      )}
      {corpora.data && all.length === 0 && <FirstSteps />}
      <div className="home-parts">
        <div className="stack">
          {largest && <HomeSearch corpora={recent} first={largest} />}
          <NeedsYou />
          <Running />
        </div>
        {recent.length > 0 && (
          <CorpusCards corpora={recent.slice(0, corporaShown)} all={all.length} />
        )}
      </div>
    </div>
  );
}

const steps = [
  ['Add', 'Drop a folder, paste addresses, or name a site. Any format that has text.'],
  [
    'Watch',
    'Each document is fetched, read, divided into chunks and indexed. You see where it is.',
  ],
  ['Search', 'By words and by meaning. Every result says why it was found.'],
] as const;

function FirstSteps() {
  return (
    <section className="card stack" aria-label="First steps">
      <h2>Three steps to a first result</h2>
      <ol className="first-steps">
        {steps.map(([name, text]) => (
          <li key={name}>
            <strong>{name}</strong>
            <p className="soft">{text}</p>
          </li>
        ))}
      </ol>
      <p>
        <Link to="/add" className="button primary">
          Add the first documents
        </Link>
      </p>
    </section>
  );
}

function NeedsYou() {
  const total = useInboxTotal();
  if (total === 0) return null;
  return (
    <section className="problem" aria-label="Needs you">
      <h2>{`${counted(total, 'document')} ${total === 1 ? 'needs' : 'need'} you`}</h2>
      <p className="soft">They failed. The inbox groups them by cause and says what to do.</p>
      <Link to="/inbox" className="button">
        Open the inbox
      </Link>
    </section>
  );
}

function Running() {
  const { client } = useWorkbench();
  const filter = { state: jobState.running };
  const { data } = useQuery({
    queryKey: ['job', 'running'],
    refetchInterval: 2000,
    queryFn: ({ signal }) =>
      client().ask('GET /jobs', { query: { ...filter, limit: jobsShown }, signal }),
  });
  const jobs = data?.items ?? [];
  if (jobs.length === 0) return null;
  return (
    <section className="stack" aria-label="Running jobs">
      <h2>Running</h2>
      <ul className="card flush">
        {jobs.map((job) => (
          <li key={job.job_id} className="home-job">
            <StatusIcon job={job} />
            <Link to="/jobs/$id" params={{ id: job.job_id }} className="cut" title={job.url ?? ''}>
              {job.url === null ? counted(job.items_total, 'document') : shortSource(job.url)}
            </Link>
            <span className="soft cut">{messageOf(job)}</span>
            <Meter job={job} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function CorpusCards({ corpora, all }: { corpora: readonly Corpus[]; all: number }) {
  return (
    <section className="stack" aria-label="Corpora">
      <div className="row spread">
        <h2>Corpora</h2>
        {all > corpora.length && <Link to="/corpora">{`All ${count(all)}`}</Link>}
      </div>
      <ul className="cards">
        {corpora.map((corpus) => (
          <li key={corpus.name} className="card stack tight">
            <h3>
              <Link to="/corpora/$name" params={{ name: corpus.name }}>
                {corpus.name}
              </Link>
            </h3>
            <span>{counted(corpus.documents, 'document')}</span>
            <span className="soft small">
              {counted(corpus.chunks, 'chunk')}, updated <Time at={corpus.updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
