/** One job: how far it is, what needs attention, and every document of it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { JobDetail } from '../../../src/contract/schema/schema.ts';
import { Badge, Problem, Skeleton, Time } from '../../part/basic.tsx';
import { Tabs } from '../../part/choice.tsx';
import { badgeOf, messageOf, progressOf } from '../../part/job-badge.ts';
import { count, counted, duration, linkOf, money, shortSource } from '../../part/wording.ts';
import { useWorkbench } from '../../workbench.ts';
import '../../style/job.css';
import { JobActions } from './actions.tsx';
import { EventLog } from './events.tsx';
import { JobItems } from './items.tsx';
import { PipelineStrip } from './pipeline-strip.tsx';

const tabs = [
  { value: 'items', name: 'Documents' },
  { value: 'events', name: 'Events' },
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
      <Tiles job={job} />
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
      </div>
    </>
  );
}

function JobHead({ job }: { job: JobDetail }) {
  const { tone, state } = badgeOf(job);
  const link = job.url === null ? undefined : linkOf(job.url);
  const { items_total: total } = job;
  // The progress of several documents says more than the message.
  const isMoving = job.ended_at === null && total > 1;
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
        {!isMoving && <strong data-message>{messageOf(job)}</strong>}
        <span className="soft">
          in{' '}
          <Link to="/corpora/$name" params={{ name: job.corpus_name }}>
            {job.corpus_name}
          </Link>
          , submitted <Time at={job.created_at} />
        </span>
        <code className="soft">{job.job_id}</code>
      </div>
      {isMoving && (
        <p className="lead" data-progress>
          {progressOf(job)}
        </p>
      )}
      <PipelineStrip job={job} />
    </div>
  );
}

function Tiles({ job }: { job: JobDetail }) {
  const { counters, eta_seconds: eta, items_failed: failed, items_total: total } = job;
  const took = duration(counters.duration_seconds * 1000);
  const facts = [
    { name: 'Ready', value: `${count(job.items_done)} of ${count(total)}`, note: readyNoteOf(job) },
    { name: 'Failed', value: count(failed), note: failed > 0 ? 'in the inbox' : 'nothing to do' },
    {
      name: 'Time',
      value: took,
      note: eta === null ? timeNoteOf(job) : `about ${duration(eta * 1000)} left`,
    },
    { name: 'Cost', value: money(job.cost_cents), note: costNoteOf(job) },
  ];
  return (
    <dl className="tiles">
      {facts.map(({ name, value, note }) => (
        <div key={name} data-tile={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className="soft small">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function readyNoteOf({ items_unchanged, items_canceled, chunks_indexed }: JobDetail): string {
  const notes = [
    counted(chunks_indexed, 'chunk'),
    ...(items_unchanged > 0 ? [`${count(items_unchanged)} unchanged`] : []),
    ...(items_canceled > 0 ? [`${count(items_canceled)} canceled`] : []),
  ];
  return notes.join(' · ');
}

function timeNoteOf({ ended_at, next_retry_at }: JobDetail): ReactNode {
  if (ended_at !== null) {
    return (
      <>
        ended <Time at={ended_at} />
      </>
    );
  }
  if (next_retry_at === null) return 'so far';
  return (
    <>
      next retry <Time at={next_retry_at} />
    </>
  );
}

function costNoteOf({ tokens, budget_cents }: JobDetail): string {
  const used = `${count(tokens.in + tokens.out)} tokens`;
  return budget_cents === null ? used : `${used}, budget ${money(budget_cents)}`;
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
          <span className="row">
            <Link
              to="/jobs/$id"
              params={{ id: job.job_id }}
              search={{ at: 'failed' }}
              className="button"
            >
              {`Show ${cause.count === 1 ? 'it' : 'them'}`}
            </Link>
            <Link to="/inbox" search={{ corpus: job.corpus_name }} className="button">
              Fix in the inbox
            </Link>
          </span>
        </div>
      ))}
    </section>
  );
}
