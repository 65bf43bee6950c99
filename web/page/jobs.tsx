/** All jobs, newest first, live. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useCallback, useMemo } from 'react';
import type { Job } from '../../src/contract/schema/schema.ts';
import { job as jobMachine } from '../../src/kernel/lifecycle/job.ts';
import { stage as stageMachine } from '../../src/kernel/lifecycle/stage.ts';
import { type JobFilter, jobsPerPage } from '../live/job-list.ts';
import { Empty, Problem, Skeleton, Time } from '../part/basic.tsx';
import { Menu } from '../part/choice.tsx';
import { useCorpora } from '../part/corpus-query.ts';
import { messageOf } from '../part/job-badge.ts';
import { LongList } from '../part/long-list.tsx';
import { Meter, Stages, StatusIcon } from '../part/status.tsx';
import { count, counted, duration, money, shortSource, words } from '../part/wording.ts';
import { useWorkbench } from '../workbench.ts';

const rowHeight = 44;

function useJobs(filter: JobFilter) {
  const { client } = useWorkbench();
  return useInfiniteQuery({
    queryKey: ['jobs', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client().ask('GET /jobs', { query: { ...filter, limit: jobsPerPage, cursor }, signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export function JobsPage() {
  const filter = useSearch({ from: '/jobs' });
  const query = useJobs(filter);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const rows = useMemo(() => query.data?.pages.flatMap(({ items }) => items) ?? [], [query.data]);
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <div className="page fills">
      <header className="page-head">
        <h1>Jobs</h1>
        <span className="soft number">
          {counted(rows.length, 'job')}
          {hasNextPage && ' so far'}
        </span>
        <Link to="/add" className="button primary">
          Add documents
        </Link>
      </header>
      <JobFilters filter={filter} />
      {query.isPending && <Skeleton lines={8} />}
      {query.isError && rows.length === 0 && (
        <Problem error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && rows.length === 0 && <NoJobs isFiltered={isFiltered} />}
      {rows.length > 0 && (
        <LongList
          label="Jobs"
          rows={rows}
          rowHeight={rowHeight}
          keyOf={({ job_id }) => job_id}
          render={(job) => <JobRow job={job} />}
          onEnd={readOn}
        />
      )}
    </div>
  );
}

/** Renders only visible rows. */
const JobRow = memo(function JobRow({ job }: { job: Job }) {
  const { items_total: total, items_done: done } = job;
  const name = job.url === null ? counted(total, 'document') : shortSource(job.url);
  return (
    <Link to="/jobs/$id" params={{ id: job.job_id }} className="job-row" preload={false}>
      <StatusIcon job={job} />
      <span className="cut" title={job.url ?? undefined}>
        {name}
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

const any = { value: '', name: 'any' };
const optionsOf = (names: readonly string[]) => [
  any,
  ...names.map((value) => ({ value, name: words(value) })),
];

function JobFilters({ filter }: { filter: JobFilter }) {
  const navigate = useNavigate({ from: '/jobs' });
  const { data } = useCorpora();
  const choose = (name: keyof JobFilter) => (value: string) =>
    void navigate({
      search: (before) => ({ ...before, [name]: value === '' ? undefined : value }),
    });
  const corpora = data?.items.map(({ name }) => name) ?? [];
  const menus: readonly (readonly [keyof JobFilter, string, readonly string[]])[] = [
    ['corpus_name', 'Corpus', corpora],
    ['status', 'Status', stageMachine.states],
    ['state', 'State', jobMachine.states],
    ['failed_stage', 'Failed in', ['scraping', 'chunking', 'embedding']],
  ];
  return (
    <div className="row">
      {menus.map(([name, label, names]) => (
        <Menu
          key={name}
          label={label}
          options={optionsOf(names)}
          value={filter[name] ?? ''}
          onChange={choose(name)}
        />
      ))}
    </div>
  );
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
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
