/** Limits for applying a job command to the items of the job. */
import { second } from './unit.ts';

export const sweepLimits = {
  sweep: {
    /** Items per transaction. */
    itemsMax: 500,
    /** A command waits for its sweep if it takes at most this many transactions. */
    awaitedMax: 2,
    /** Items that others were moving are checked again after this time. */
    pauseMs: 20,
    jobsMax: 1000,
    /** How long a stopping process waits for its sweeps; the next process finishes them. */
    stopMsMax: 5 * second,
  },
} as const;
