/** The life of what a caller submitted. Its state follows from its items (`jobEventFor`). */
import { allowedActions, defineMachine, type EventOf, type StateOf, statesOf } from './machine.ts';

export const job = defineMachine({
  name: 'job',
  initial: 'queued',
  states: ['queued', 'running', 'retry_pending', 'paused', 'succeeded', 'failed', 'canceled'],
  final: ['succeeded', 'failed', 'canceled'],
  actions: ['cancel', 'pause', 'resume', 'retry'],
  edges: [
    ['start', ['queued', 'retry_pending'], 'running'],
    ['wait', ['running'], 'retry_pending'],
    // Also while paused: the last open items may end by being deleted.
    ['complete', ['queued', 'running', 'retry_pending', 'paused'], 'succeeded'],
    ['error', ['queued', 'running', 'retry_pending', 'paused'], 'failed'],
    ['cancel', ['queued', 'running', 'retry_pending', 'paused'], 'canceled'],
    ['pause', ['queued', 'running', 'retry_pending'], 'paused'],
    ['resume', ['paused'], 'queued'],
    ['retry', ['succeeded', 'failed', 'canceled'], 'queued'],
  ],
});

export type JobState = StateOf<typeof job>;
export type JobEventName = EventOf<typeof job>;

/** The states by name, for comparisons and SQL. */
export const jobState = statesOf(job);

/** Only in these states are items of a job claimed, and reports on them taken. */
export const workingStates: readonly JobState[] = job.states.filter((state) =>
  allowedActions(job, state).includes('pause'),
);

/** In these states the clock of a job runs: it is running, or waits to be. */
export const clockStates: readonly JobState[] = [jobState.running, jobState.retry_pending];

/** A job that an item of it was claimed for is running, and its heartbeat keeps it fresh. */
export const beatingStates: readonly JobState[] = [jobState.running];

/** Whether a move begins another attempt at the job: a retry, or the start after a wait. */
export function beginsAttempt(from: JobState, event: JobEventName): boolean {
  return event === 'retry' || (event === 'start' && from === jobState.retry_pending);
}

/** What a command has decided for all items of a job, and a sweep carries out. */
export const sweeps = ['cancel', 'pause', 'resume'] as const;

export type Sweep = (typeof sweeps)[number];

/** The moves that follow from the counts of the items. */
export type JobEvent = Extract<JobEventName, 'wait' | 'complete' | 'error' | 'cancel'>;

export interface JobCounts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly canceled: number;
  /** Unfinished items that wait for the time of their retry. */
  readonly waiting: number;
}

/** The move of a job that follows from the counts of its items; undefined: it stays. */
export function jobEventFor(state: JobState, counts: JobCounts): JobEvent | undefined {
  const open = counts.total - counts.done - counts.failed - counts.canceled;
  if (job.final.includes(state)) return undefined;
  if (open === 0) return endOf(counts);
  if (state === jobState.running && counts.waiting === open) return 'wait';
  return undefined;
}

/**
 * All failed: failed. Nothing left but canceled items: canceled. Otherwise succeeded, perhaps
 * partly.
 */
function endOf(counts: JobCounts): JobEvent {
  if (counts.done > 0) return 'complete';
  if (counts.failed > 0) return 'error';
  return counts.total > 0 ? 'cancel' : 'complete';
}

/**
 * The actions that a person may take on a job. A retry begins failed and canceled items again:
 * without any, it is not offered and not accepted.
 */
export function jobActions(
  state: JobState,
  { failed, canceled }: Pick<JobCounts, 'failed' | 'canceled'>,
): JobEventName[] {
  const canRetry = failed + canceled > 0;
  return allowedActions(job, state).filter((action) => action !== 'retry' || canRetry);
}

export function isPartial(counts: JobCounts): boolean {
  return counts.done > 0 && counts.done < counts.total;
}
