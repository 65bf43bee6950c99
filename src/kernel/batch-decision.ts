/**
 * The reconciler's one decision: what we believe of a provider's job × what the provider says of
 * it → what to do. Every word that a provider has for a state is one of `sayings` to us.
 */
import type { BatchJobState } from './batch-job.ts';

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
  /** The third one fails the job. */
  'count_error',
  'wait',
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
