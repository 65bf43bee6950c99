/**
 * A list of jobs can be hundreds of pages long, so it is never reloaded as a whole. Changed jobs
 * are read one by one and replaced in their place; new jobs are added on top.
 */
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Client } from '../../src/client/http.ts';
import type { AnswerOf } from '../../src/contract/contract.ts';
import type { Job } from '../../src/contract/schema/schema.ts';
import { job as jobMachine, jobState, workingStates } from '../../src/kernel/lifecycle/job.ts';
import type { Changes } from './change.ts';
import { readAgain, untilLoaded } from './read-again.ts';

export type JobGroup = 'running' | 'attention' | 'done';

export interface JobFilter {
  readonly group?: JobGroup | undefined;
  /** A part of the first source or of the id. */
  readonly text?: string | undefined;
  readonly corpus_name?: string | undefined;
  readonly status?: Job['status'] | undefined;
  readonly state?: Job['state'] | undefined;
  readonly failed_stage?: 'scraping' | 'chunking' | 'embedding' | undefined;
}

export type JobPage = AnswerOf<'GET /jobs'>;
export type JobPages = InfiniteData<JobPage, string | undefined>;

export const jobsPerPage = 200;

/** A failure that was discarded is counted too, until the list is read again. */
const groups: Readonly<Record<JobGroup, (job: Job) => boolean>> = {
  running: ({ state }) => workingStates.includes(state),
  attention: ({ state, items_failed }) => state === jobState.paused || items_failed > 0,
  done: ({ state }) => jobMachine.final.includes(state),
};

export function isMatch(job: Job, filter: JobFilter): boolean {
  const part = filter.text?.toLowerCase() ?? '';
  return (
    (filter.group === undefined || groups[filter.group](job)) &&
    `${job.url ?? ''} ${job.job_id}`.toLowerCase().includes(part) &&
    (filter.corpus_name === undefined || job.corpus_name === filter.corpus_name) &&
    (filter.status === undefined || job.status === filter.status) &&
    (filter.state === undefined || job.state === filter.state) &&
    (filter.failed_stage === undefined || job.failed_stage === filter.failed_stage)
  );
}

/** Replaces changed jobs in their place. A job that no longer matches the filter is dropped. */
export function patchPages(
  pages: JobPages,
  jobs: ReadonlyMap<string, Job>,
  filter: JobFilter,
): JobPages {
  const patch = (page: JobPage): JobPage => {
    if (!page.items.some(({ job_id }) => jobs.has(job_id))) return page;
    const items = page.items
      .map((job) => jobs.get(job.job_id) ?? job)
      .filter((job) => !jobs.has(job.job_id) || isMatch(job, filter));
    return { ...page, items };
  };
  return { ...pages, pages: pages.pages.map(patch) };
}

/** Adds new jobs on top. If they do not reach down to the known ones, the list is reloaded. */
export function placeOnTop(pages: JobPages, newest: JobPage): JobPages {
  const [first, ...others] = pages.pages;
  const known = new Set(first?.items.map(({ job_id }) => job_id));
  const fresh = newest.items.filter(({ job_id }) => !known.has(job_id));
  const isJoined = fresh.length < newest.items.length || newest.next_cursor === null;
  if (!first || !isJoined) return { pages: [newest], pageParams: [undefined] };
  const items = [...fresh, ...first.items].sort((a, b) => b.created_at.localeCompare(a.created_at));
  return { ...pages, pages: [{ ...first, items }, ...others] };
}

export async function refreshJobLists(
  queries: QueryClient,
  client: Client,
  changes: Changes,
): Promise<void> {
  if (changes.jobs.size > 0 || changes.hasNewJobs || changes.inbox) {
    void readAgain(queries, { queryKey: ['job-counts'] });
  }
  const lists = queries.getQueryCache().findAll({ queryKey: ['jobs'], type: 'active' });
  for (const { queryKey } of lists) {
    await untilLoaded(queries, { queryKey, exact: true });
    const filter = queryKey[1] as JobFilter;
    const pages = queries.getQueryData<JobPages>(queryKey);
    if (!pages) continue;
    const shown = pages.pages.flatMap(({ items }) => items.map(({ job_id }) => job_id));
    const changed = shown.filter((id) => changes.jobs.has(id));
    const read = changed.map((id) => client.ask('GET /jobs/:id', { params: { id } }));
    const jobs = new Map((await Promise.all(read)).map((job) => [job.job_id, job as Job]));
    const newest = await newestOf(client, filter, { changes, shown: new Set(shown) });
    queries.setQueryData<JobPages>(queryKey, (now) => {
      const patched = now && patchPages(now, jobs, filter);
      return patched && newest ? placeOnTop(patched, newest) : patched;
    });
  }
}

/** A job that is not shown may be new, or may match the filter only now. */
async function newestOf(
  client: Client,
  filter: JobFilter,
  { changes, shown }: { changes: Changes; shown: ReadonlySet<string> },
): Promise<JobPage | undefined> {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const hasOthers = isFiltered && [...changes.jobs].some((id) => !shown.has(id));
  if (!changes.hasNewJobs && !hasOthers) return undefined;
  return client.ask('GET /jobs', { query: { ...filter, limit: jobsPerPage } });
}
