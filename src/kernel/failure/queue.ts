/** The rows of the failure table about queues between processes. */
import type { FailureRow } from './row.ts';

export const queueFailures = {
  queue_unavailable: {
    errorCode: 'E_QUEUE_AWAY',
    kind: 'transient',
    httpStatus: 503,
    title: 'Queue unavailable',
    advice: 'Check that Redis runs and is reachable, then retry. Nothing is lost.',
  },
  queue_evicts: {
    errorCode: 'E_QUEUE_EVICTS',
    kind: 'fatal',
    httpStatus: 500,
    title: 'Redis may drop messages',
    advice: 'Set maxmemory-policy to noeviction in Redis, then restart Pawl.',
  },
} as const satisfies Record<string, FailureRow>;
