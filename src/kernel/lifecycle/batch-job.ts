/** One job at an outside provider, as the reconciler sees it between polls. */
import { limits } from '../limits/limits.ts';
import { defineMachine, type EventOf, type StateOf } from './machine.ts';

export const batchJob = defineMachine({
  name: 'batch-job',
  initial: 'submitted',
  states: ['submitted', 'running', 'completed', 'failed'],
  final: ['completed', 'failed'],
  actions: [],
  edges: [
    ['run', ['submitted', 'running'], 'running'],
    // A fast provider may be done before the first poll.
    ['complete', ['submitted', 'running'], 'completed'],
    ['fail', ['submitted', 'running'], 'failed'],
    ['poll_error', ['submitted'], 'submitted'],
    ['poll_error', ['running'], 'running'],
    ['poll_errors_exhausted', ['submitted', 'running'], 'failed'],
    // The provider had no capacity and never started it.
    ['resubmit', ['submitted', 'running'], 'submitted'],
    // It ended at the provider after it was given up: its results are kept, and it stays failed.
    ['end_late', ['failed'], 'failed'],
  ],
});

export type BatchJobState = StateOf<typeof batchJob>;
export type BatchJobEvent = EventOf<typeof batchJob>;

/** What one more transient poll error means, after so many in a row before it. */
export function pollErrorEvent(earlierErrors: number): BatchJobEvent {
  return earlierErrors + 1 >= limits.batch.pollErrorsMax ? 'poll_errors_exhausted' : 'poll_error';
}
