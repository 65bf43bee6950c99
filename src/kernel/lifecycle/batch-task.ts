/** Work handed to an outside provider for hours: submitted once, then moved by the reconciler. */
import { type BatchJobState, batchJob } from './batch-job.ts';
import {
  defineMachine,
  type EventOf,
  isFinal,
  openStates,
  type StateOf,
  statesOf,
} from './machine.ts';

export const batchTask = defineMachine({
  name: 'batch-task',
  initial: 'pending',
  states: ['pending', 'in_progress', 'completed', 'partial_complete', 'failed', 'canceled'],
  final: ['completed', 'partial_complete', 'failed', 'canceled'],
  actions: ['cancel'],
  edges: [
    // From pending alone: a submission that is delivered twice must not buy the work twice.
    ['submit', ['pending'], 'in_progress'],
    ['poll', ['in_progress'], 'in_progress'],
    ['complete', ['in_progress'], 'completed'],
    ['complete_partly', ['in_progress'], 'partial_complete'],
    ['fail', ['pending', 'in_progress'], 'failed'],
    ['cancel', ['pending', 'in_progress'], 'canceled'],
  ],
});

export type BatchTaskState = StateOf<typeof batchTask>;

/** The states by name, for comparisons and SQL. */
export const batchTaskState = statesOf(batchTask);

/** The tasks that have not ended. */
export const openTaskStates = openStates(batchTask);

export type BatchTaskEvent = EventOf<typeof batchTask>;

export interface BatchJobResult {
  readonly state: BatchJobState;
  /** The provider finished this job, but some of its rows failed. */
  readonly partial: boolean;
}

/** What the provider's jobs say should happen to a task in progress. */
export function batchTaskEventFor(jobs: readonly BatchJobResult[]): BatchTaskEvent {
  if (jobs.some(({ state }) => !isFinal(batchJob, state))) return 'poll';
  // True of no jobs as well: such a task has lost its provider's state, and nothing would end it.
  if (jobs.every(({ state }) => state === 'failed')) return 'fail';
  const whole = jobs.every(({ state, partial }) => state === 'completed' && !partial);
  return whole ? 'complete' : 'complete_partly';
}
