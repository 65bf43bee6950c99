/** What queues may answer: the rows of the failure table about what wakes other processes. */
import type { FailureRow } from './row.ts';

export const queueFailures = {
  queue_unavailable: {
    errorCode: 'E_QUEUE_AWAY',
    kind: 'transient',
    httpStatus: 503,
    title: 'Queue unavailable',
    advice: 'Nothing is lost: retry in a moment, and check that Redis runs and can be reached.',
  },
  queue_evicts: {
    errorCode: 'E_QUEUE_EVICTS',
    kind: 'fatal',
    httpStatus: 500,
    title: 'Redis may drop messages',
    advice: 'Set its maxmemory-policy to noeviction, then start Pawl again.',
  },
} as const satisfies Record<string, FailureRow>;
