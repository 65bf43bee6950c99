/**
 * The reconciler's one decision: our state of a provider job × the provider's status → action.
 * Every provider status is mapped to one of `sayings`.
 */
import type { BatchJobState } from './lifecycle/batch-job.ts';

export const sayings = [
  'running',
  'completed',
  'failed',
  /** The job expired at the provider. Partial results may exist. */
  'expired',
  'canceled',
  /** The provider does not know the id: deleted, or not visible yet. */
  'gone',
  /** No response, or an invalid one: the next poll may succeed. */
  'unreachable',
  /** The provider asked to come back later. This is not an error of the job. */
  'limited',
  /** The key was refused: a configuration problem, not a problem of the job. */
  'denied',
  /** The provider had no capacity and never started it: submit again later. */
  'postponed',
  /** A status that this version of Pawl does not know. */
  'unknown',
] as const;

export type Saying = (typeof sayings)[number];

export const batchActions = [
  /** Still running: poll again. */
  'run',
  /** Fetch the results. The job is completed with at least one result, and failed with none. */
  'collect',
  'fail',
  /** The third one in a row fails the job. */
  'count_error',
  'wait',
  /** Wait, then submit the job again. */
  'resubmit',
  /** The job has ended for us; later statuses do not matter. */
  'ignore',
] as const;

export type BatchAction = (typeof batchActions)[number];

const whileOpen: Readonly<Record<Saying, BatchAction>> = {
  running: 'run',
  completed: 'collect',
  failed: 'fail',
  expired: 'collect',
  canceled: 'collect',
  // Right after a submission some providers do not know their own job yet.
  gone: 'count_error',
  unreachable: 'count_error',
  limited: 'wait',
  denied: 'wait',
  postponed: 'resubmit',
  // An unknown status most likely means running; the age limit of the task bounds it.
  unknown: 'run',
};

const afterTheEnd: Readonly<Record<Saying, BatchAction>> = {
  running: 'ignore',
  completed: 'ignore',
  failed: 'ignore',
  expired: 'ignore',
  canceled: 'ignore',
  gone: 'ignore',
  unreachable: 'ignore',
  limited: 'ignore',
  denied: 'ignore',
  postponed: 'ignore',
  unknown: 'ignore',
};

export const batchDecisions: Readonly<
  Record<BatchJobState, Readonly<Record<Saying, BatchAction>>>
> = {
  submitted: whileOpen,
  running: whileOpen,
  completed: afterTheEnd,
  failed: afterTheEnd,
};

/** What to do with a job that Pawl has abandoned, until the provider no longer runs it. */
export type WindDownAction = 'cancel' | 'collect' | 'ended' | 'wait';

export const windDownActions: Readonly<Record<Saying, WindDownAction>> = {
  running: 'cancel',
  unknown: 'cancel',
  completed: 'collect',
  expired: 'collect',
  canceled: 'collect',
  failed: 'ended',
  postponed: 'ended',
  gone: 'ended',
  unreachable: 'wait',
  limited: 'wait',
  denied: 'wait',
};
