/** One job: its status, the reason, and the available actions. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { JobDetail } from '../../src/contract/schema/schema.ts';
import { job as jobMachine } from '../../src/kernel/lifecycle/job.ts';
import { Badge, Facts, Problem, Skeleton, Time, Wide } from '../part/basic.tsx';
import { Tabs } from '../part/choice.tsx';
import { badgeOf, messageOf } from '../part/job-badge.ts';
import { MachineDiagram } from '../part/machine-diagram.tsx';
import { Meter, Stages } from '../part/status.tsx';
import { StepDiagram } from '../part/step-diagram.tsx';
import { count, counted, duration, linkOf, money, shortSource, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';
import { JobActions } from './job-actions.tsx';
import { EventLog } from './job-events.tsx';
import { JobItems } from './job-items.tsx';

const tabs = [
  { value: 'items', name: 'Documents' },
  { value: 'events', name: 'Events' },
  { value: 'lifecycle', name: 'Lifecycle' },
] as const;

export function JobPage() {
  const { id } = useParams({ from: '/jobs/$id' });
  const { client } = useWorkbench();
  const query = useQuery({
    queryKey: ['job', id],
    queryFn: ({ signal }) => client().ask('GET /jobs/:id', { params: { id }, signal }),
  });
  const { data: job } = query;
  return (
    <div className="page">
      <Link to="/jobs" className="soft small">
        ← Jobs
      </Link>
      {!job && <h1>Job</h1>}
      {query.isError && !job && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isPending && <Skeleton lines={6} />}
      {job && <JobView job={job} />}
    </div>
  );
}

function JobView({ job }: { job: JobDetail }) {
  const { tab = 'items', item } = useSearch({ from: '/jobs/$id' });
  const navigate = useNavigate({ from: '/jobs/$id' });
  return (
    <>
      <JobHead job={job} />
      <Counters job={job} />
      {job.causes.length > 0 && <Causes job={job} />}
      <Tabs
        label="Parts of this job"
        options={tabs}
        value={tab}
        onChange={(value) => void navigate({ search: (before) => ({ ...before, tab: value }) })}
      />
      <div id={`panel-${tab}`} role="tabpanel" aria-labelledby={`tab-${tab}`} className="stack">
        {tab === 'items' && <JobItems job={job} />}
        {tab === 'events' && (
          <EventLog
            jobId={job.job_id}
            itemId={item}
            onAll={() => void navigate({ search: (before) => ({ ...before, item: undefined }) })}
          />
        )}
        {tab === 'lifecycle' && <Lifecycle job={job} />}
      </div>
    </>
  );
}

function JobHead({ job }: { job: JobDetail }) {
  const { tone, state } = badgeOf(job);
  const link = job.url === null ? undefined : linkOf(job.url);
  const { items_total: total } = job;
  const name = job.url === null ? counted(total, 'document') : shortSource(job.url);
  return (
    <div className="stack">
      <header className="page-head">
        <h1>
          {link ? (
            <a href={link} rel="noreferrer noopener" target="_blank">
              {name}
            </a>
          ) : (
            name
          )}
          {total > 1 && job.url !== null && (
            <span className="soft">{` and ${counted(total - 1, 'more', 'more')}`}</span>
          )}
        </h1>
        <JobActions job={job} />
      </header>
      <div className="row">
        <Badge tone={tone}>{state}</Badge>
        <strong data-message>{messageOf(job)}</strong>
        <span className="soft">
          in{' '}
          <Link to="/corpora/$name" params={{ name: job.corpus_name }}>
            {job.corpus_name}
          </Link>
          , submitted <Time at={job.created_at} />
        </span>
        <code className="soft">{job.job_id}</code>
      </div>
      <Stages job={job} />
      {job.items_total > 1 && (
        <div className="row">
          <span className="grow">
            <Meter job={job} />
          </span>
          <span className="soft number">{shareOf(job)}</span>
        </div>
      )}
    </div>
  );
}

const shareOf = ({ items_done, items_total }: JobDetail): string =>
  `${count(items_done)} of ${count(items_total)}`;

function Counters({ job }: { job: JobDetail }) {
  const { counters } = job;
  const facts = [
    { name: 'URLs total', value: count(counters.urls_total) },
    { name: 'URLs enqueued', value: count(counters.urls_enqueued) },
    { name: 'URLs processed', value: count(counters.urls_processed) },
    { name: 'Documents emitted', value: count(counters.documents_emitted) },
    { name: 'Chunks indexed', value: count(counters.chunks_indexed) },
    { name: 'Tokens estimated', value: count(counters.tokens_estimated) },
    { name: 'Duration', value: duration(counters.duration_seconds * 1000) },
    { name: 'Time left', value: job.eta_seconds === null ? '–' : duration(job.eta_seconds * 1000) },
    { name: 'Cost', value: money(job.cost_cents) },
    { name: 'Unchanged', value: count(job.items_unchanged) },
    { name: 'Attempt', value: count(job.attempt) },
    { name: 'Next retry', value: job.next_retry_at ? <Time at={job.next_retry_at} /> : '–' },
  ];
  return <Facts facts={facts} />;
}

function Causes({ job }: { job: JobDetail }) {
  return (
    <section className="stack" aria-label="Failures">
      {job.causes.map((cause) => (
        <div key={cause.cause} className="problem">
          <h2>
            {`${counted(cause.count, 'document')}: ${cause.title}`}{' '}
            <code className="soft">{cause.cause}</code>
          </h2>
          {job.error?.code === cause.cause && <p>{job.error.message}</p>}
          <p className="soft">{cause.advice}</p>
        </div>
      ))}
    </section>
  );
}

function Lifecycle({ job }: { job: JobDetail }) {
  return (
    <>
      <section className="card stack">
        <h2>Job</h2>
        <p className="soft">
          The job is {words(job.state)}. The strong lines show what can happen next.
        </p>
        <Wide label="Lifecycle of the job">
          <MachineDiagram machine={jobMachine} state={job.state} />
        </Wide>
      </section>
      <section className="card stack">
        <h2>Documents</h2>
        <p className="soft">Documents at each step. Three steps run in parallel.</p>
        <Wide label="Steps of its documents">
          <StepDiagram counts={job.counters.steps} />
        </Wide>
      </section>
    </>
  );
}
