/** All jobs, newest first, live. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { memo } from 'react';
import type { Job } from '../../src/contract/schema/schema.ts';
import { limits } from '../../src/kernel/limits/limits.ts';
import { type JobFilter, type JobGroup, jobsPerPage } from '../live/job-list.ts';
import { AddressedInput } from '../part/addressed-input.tsx';
import { Empty, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Menu, Tabs } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { messageOf } from '../part/job-badge.ts';
import { LongList } from '../part/long-list.tsx';
import { usePaged } from '../part/paged.ts';
import { useSettled } from '../part/settled.ts';
import { Meter, Stages, StatusIcon } from '../part/status.tsx';
import { count, counted, duration, money, shortSource, words } from '../part/wording.ts';
import '../style/job-list.css';
import { useWorkbench } from '../workbench.ts';
import { type ChosenJobs, moveOf, RetryChosen, useChosenJobs } from './job/chosen.tsx';

const rowHeight = 44;
const settledMs = 150;

function useJobs(filter: JobFilter) {
  const { client } = useWorkbench();
  return usePaged<Job>({
    key: ['jobs', filter],
    isLive: true,
    read: ({ cursor, signal }) =>
      client().ask('GET /jobs', { query: { ...filter, limit: jobsPerPage, cursor }, signal }),
  });
}

export function JobsPage() {
  const given = useSearch({ from: '/jobs' });
  const filter = { ...given, text: useSettled(given.text, settledMs) };
  const { query, rows, more } = useJobs(filter);
  const again = useChosenJobs(rows);
  const isChoosing = given.group === 'attention';
  return (
    <div className="page fills">
      <header className="page-head">
        <h1>Jobs</h1>
        <span className="soft number">
          {counted(rows.length, 'job')}
          {more && ' so far'}
        </span>
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      </header>
      <JobTabs filter={given} />
      <JobFilters filter={given} />
      {isChoosing && rows.length > 0 && <RetryChosen {...again} />}
      {query.isPending && <Skeleton lines={8} />}
      {query.isError && rows.length === 0 && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && rows.length === 0 && !more && <NoJobs filter={given} />}
      {(rows.length > 0 || more) && (
        <LongList
          label="Jobs"
          rows={rows}
          rowHeight={rowHeight}
          keyOf={({ job_id }) => job_id}
          render={(job) => <ChoosableRow job={job} choice={isChoosing ? again : undefined} />}
          onEnd={more}
        />
      )}
    </div>
  );
}

interface ChoosableRowProps {
  readonly job: Job;
  readonly choice: Pick<ChosenJobs, 'isChosen' | 'choose'> | undefined;
}

function ChoosableRow({ job, choice }: ChoosableRowProps) {
  if (!choice) return <JobRow job={job} />;
  return (
    <div className="choosable">
      <input
        type="checkbox"
        aria-label={`Choose ${nameOf(job)}`}
        disabled={moveOf(job) === undefined}
        checked={choice.isChosen(job)}
        onChange={() => choice.choose(job)}
      />
      <JobRow job={job} />
    </div>
  );
}

function nameOf(job: Job): string {
  return job.url === null ? counted(job.items_total, 'document') : shortSource(job.url);
}

/** Renders only visible rows. */
const JobRow = memo(function JobRow({ job }: { job: Job }) {
  const { items_total: total, items_done: done } = job;
  return (
    <Link to="/jobs/$id" params={{ id: job.job_id }} className="job-row" preload={false}>
      <StatusIcon job={job} />
      <span className="cut" title={job.url ?? undefined}>
        {nameOf(job)}
        {total > 1 && job.url !== null && (
          <span className="soft">{` and ${counted(total - 1, 'more', 'more')}`}</span>
        )}
      </span>
      <span className="cut message soft">{messageOf(job)}</span>
      <span className="cut wide">{job.corpus_name}</span>
      <span className="bar">{total > 1 ? <Meter job={job} /> : <Stages job={job} />}</span>
      <span className="number wide small soft">
        {job.eta_seconds === null
          ? `${count(done)} / ${count(total)}`
          : `${duration(job.eta_seconds * 1000)} left`}
        {job.cost_cents > 0 && ` · ${money(job.cost_cents)}`}
      </span>
      <span className="number soft age">
        <Time at={job.created_at} />
      </span>
    </Link>
  );
});

const tabs = [
  { value: 'all', name: 'All' },
  { value: 'running', name: 'Running' },
  { value: 'attention', name: 'Needs attention' },
  { value: 'done', name: 'Done' },
] as const;

/** The counts are of the corpus: other filters do not change them. */
function JobTabs({ filter }: { filter: JobFilter }) {
  const { client } = useWorkbench();
  const navigate = useNavigate({ from: '/jobs' });
  const { corpus_name } = filter;
  const { data } = useQuery({
    queryKey: ['job-counts', corpus_name],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client().ask('GET /jobs', { query: { corpus_name, counts: true, limit: 1 }, signal }),
  });
  const totalOf = (name: (typeof tabs)[number]['value']): string | undefined => {
    const value = data?.counts?.[name];
    if (value === undefined) return undefined;
    return value < limits.request.jobsCountedMax ? count(value) : `${count(value)}+`;
  };
  return (
    <Tabs
      label="Jobs"
      options={tabs.map((tab) => ({ ...tab, total: totalOf(tab.value) }))}
      value={filter.group ?? 'all'}
      onChange={(value) =>
        void navigate({
          search: ({ group: _, ...rest }) => (value === 'all' ? rest : { ...rest, group: value }),
        })
      }
    />
  );
}

const any = { value: '', name: 'any' };
const optionsOf = (names: readonly string[]) => [
  any,
  ...names.map((value) => ({ value, name: words(value) })),
];

function JobFilters({ filter }: { filter: JobFilter }) {
  const navigate = useNavigate({ from: '/jobs' });
  const { data } = useCorpora();
  const narrow = (change: JobFilter, replace = false): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace });
  const corpora = data?.items.map(({ name }) => name) ?? [];
  return (
    <search className="row filters" id={`panel-${filter.group ?? 'all'}`}>
      <AddressedInput
        label="Find a job"
        className="input"
        type="search"
        placeholder="Address, file or id"
        dir="auto"
        value={filter.text}
        onType={(text) => narrow({ text }, true)}
      />
      <Menu
        label="Corpus"
        options={optionsOf(corpora)}
        value={filter.corpus_name ?? ''}
        onChange={(name) => narrow({ corpus_name: name || undefined })}
      />
      <Menu
        label="Failed in"
        options={optionsOf(['scraping', 'chunking', 'embedding'])}
        value={filter.failed_stage ?? ''}
        onChange={(stage) =>
          narrow({ failed_stage: (stage || undefined) as JobFilter['failed_stage'] })
        }
      />
      {(['status', 'state'] as const).map(
        (name) =>
          filter[name] && (
            <button
              key={name}
              type="button"
              className="chip"
              aria-pressed
              title="Remove this filter"
              onClick={() => narrow({ [name]: undefined })}
            >
              {`${name}: ${words(filter[name])} ×`}
            </button>
          ),
      )}
    </search>
  );
}

/** What an empty list means. */
const nothing: Readonly<Record<JobGroup, readonly [title: string, text: string]>> = {
  running: ['Nothing is running', 'A job is here from its submission until all documents ended.'],
  attention: ['Nothing needs you', 'No job is paused, and no document of a job is in the inbox.'],
  done: ['No job is done yet', 'A job is done when each of its documents has ended.'],
};

function NoJobs({ filter }: { filter: JobFilter }) {
  const { group, ...others } = filter;
  const isNarrowed = Object.values(others).some((value) => value !== undefined);
  if (group !== undefined && !isNarrowed) {
    const [title, text] = nothing[group];
    return <Empty title={title}>{text}</Empty>;
  }
  if (isNarrowed) {
    return (
      <Empty
        title="No job matches the filter"
        next={
          <Link to="/jobs" search={{}} className="button">
            Show all jobs
          </Link>
        }
      >
        No job matches all of the selected filters.
      </Empty>
    );
  }
  return (
    <Empty
      title="No jobs yet"
      next={
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      }
    >
      Paste addresses, drop files or crawl a site. Each submission becomes a job whose documents you
      can follow step by step.
    </Empty>
  );
}
