/**
 * The reconciler's one decision: what we believe of a provider's job × what the provider says of
 * it → what to do. Every word that a provider has for a state is one of `sayings` to us.
 */
import type { BatchJobState } from './lifecycle/batch-job.ts';

export const sayings = [
  'running',
  'completed',
  'failed',
  /** Its time ran out at the provider. What was done until then may be there. */
  'expired',
  'canceled',
  /** The provider does not know the id: deleted, or not there yet. */
  'gone',
  /** No answer, or one that makes no sense: the next may be better. */
  'unreachable',
  /** Asked to come back later. That is no error of the job. */
  'limited',
  /** The key was refused: a matter of the settings, which says nothing about the job. */
  'denied',
  /** It was never begun, for want of room at the provider: submit it again later. */
  'postponed',
  /** A state that this version of Pawl has no word for. */
  'unknown',
] as const;

export type Saying = (typeof sayings)[number];

export const batchActions = [
  /** It is under way: ask again. */
  'run',
  /** Take what there is of results. With at least one the job is completed, with none it failed. */
  'collect',
  'fail',
  /** The third one in a row fails the job. */
  'count_error',
  'wait',
  /** Wait, and then begin the job again. */
  'resubmit',
  /** It has ended for us, whatever is said later. */
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
  // A new word is most likely one for being under way; the age of the task bounds it.
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

/** What to do with a job that Pawl has given up, until the provider no longer runs it. */
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
