/** Pages of jobs: by what they need of a person, by state and status, by a part of their name. */
import {
  type JobState,
  job as jobMachine,
  jobState,
  workingStates,
} from '../../kernel/lifecycle/job.ts';
import { type StageState, stageState } from '../../kernel/lifecycle/stage.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { Database } from '../../store/driver/database.ts';
import { countJobsInInbox, listJobsInInbox } from '../../store/item/inbox.ts';
import { type JobRow, statusesOf } from '../../store/job/jobs.ts';
import { countJobsByState, type JobPage, listJobPage } from '../../store/job/views.ts';
import type { StoreService } from '../service.ts';

export type JobGroup = 'running' | 'attention' | 'done';

export interface JobListPage extends JobPage {
  readonly group?: JobGroup | undefined;
  /** A part of the first source or of the id. */
  readonly text?: string | undefined;
  readonly status?: StageState | undefined;
}

interface Listed {
  readonly row: JobRow;
  readonly status: StageState;
}

/** The state that a status implies, if any; other statuses are derived per job. */
const stateOfStatus: Partial<Record<StageState, JobState>> = {
  [stageState.done]: jobState.succeeded,
  [stageState.failed]: jobState.failed,
  [stageState.canceled]: jobState.canceled,
};

/** A page of jobs with their status, and the start of the next page; null at the end. */
export async function listJobs(service: StoreService, page: JobListPage) {
  const { database, lifecycle } = service;
  const { status: wanted, limit } = page;
  const implied = wanted && stateOfStatus[wanted];
  const rows: Listed[] = [];
  if (implied && page.state !== undefined && page.state !== implied) return { rows, before: null };
  const asked = { ...page, state: implied ?? page.state };
  let { before } = page;
  for (let scanned = 0; scanned < limits.request.jobsScannedMax; ) {
    const found = await readPage(database, { ...asked, before });
    const statuses = await statusesOf(database, found, lifecycle);
    for (const [index, row] of found.entries()) {
      const status = statuses[index] as StageState;
      before = row.id;
      if ((wanted === undefined || status === wanted) && isMatch(row, asked)) {
        rows.push({ row, status });
      }
      if (rows.length === limit) return { rows, before };
    }
    if (found.length < limit) return { rows, before: null };
    scanned += found.length;
  }
  return { rows, before };
}

/** What no index of the list has decided. */
function isMatch(row: JobRow, { text, state, failedStage, ...page }: JobListPage): boolean {
  const part = text?.trim().toLowerCase() ?? '';
  return (
    `${row.url ?? ''} ${row.key}`.toLowerCase().includes(part) &&
    (state === undefined || row.state === state) &&
    (failedStage === undefined || row.failed_stage === failedStage) &&
    row.created_at >= (page.createdFrom ?? 0) &&
    row.created_at < (page.createdBefore ?? Number.MAX_SAFE_INTEGER)
  );
}

/** Each state has an index of its own, so a group of them is merged from one page of each. */
async function readPage(database: Database, page: JobListPage): Promise<JobRow[]> {
  if (page.group === undefined) return listJobPage(database, page);
  const wanted = page.state === undefined ? statesOf[page.group] : [page.state];
  const states = wanted.filter((state) => statesOf[page.group as JobGroup].includes(state));
  const pages = await Promise.all(states.map((state) => listJobPage(database, { ...page, state })));
  const inInbox = page.group === 'attention' ? await listJobsInInbox(database, page) : [];
  const rows = new Map([...pages.flat(), ...inInbox].map((row) => [row.id, row]));
  return [...rows.values()].sort((a, b) => b.id - a.id).slice(0, page.limit);
}

/** A job needs attention if it is paused, or if documents of it are in the inbox. */
const statesOf: Readonly<Record<JobGroup, readonly JobState[]>> = {
  running: workingStates,
  attention: [jobState.paused],
  done: jobMachine.final,
};

/** How many jobs each group has; a number stops at the limit. */
export async function countJobs(database: Database, caller: string, corpus: string | undefined) {
  const filter = { caller, corpus, limit: limits.request.jobsCountedMax };
  const byState = new Map(await countJobsByState(database, filter));
  const atMost = (value: number): number => Math.min(value, filter.limit);
  const sumOf = (states: readonly JobState[]): number =>
    atMost(states.reduce((sum, state) => sum + (byState.get(state) ?? 0), 0));
  const inInbox = await countJobsInInbox(database, filter);
  return {
    all: sumOf(jobMachine.states),
    running: sumOf(statesOf.running),
    attention: atMost(sumOf(statesOf.attention) + inInbox),
    done: sumOf(statesOf.done),
  };
}
