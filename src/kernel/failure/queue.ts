/** The rows of the failure table about queues between processes. */
import { row } from './row.ts';

export const queueFailures = {
  queue_unavailable: row('E_QUEUE_AWAY', 'transient', 503, {
    title: 'Queue unavailable',
    advice: 'Check that Redis runs and is reachable, then retry. Nothing is lost.',
  }),
  queue_evicts: row('E_QUEUE_EVICTS', 'fatal', 500, {
    title: 'Redis may drop messages',
    advice: 'Set maxmemory-policy to noeviction in Redis, then restart Pawl.',
  }),
} as const;
