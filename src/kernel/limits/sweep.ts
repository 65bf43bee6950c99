/** The bounds of carrying out on the items of a job what a command has decided for the job. */
import { second } from './unit.ts';

export const sweepLimits = {
  sweep: {
    /** Items in one transaction. */
    itemsMax: 500,
    /** A command waits for its sweep if that takes no more transactions than this. */
    awaitedMax: 2,
    /** Items that others were moving are looked at again after this time. */
    pauseMs: 20,
    jobsMax: 1000,
    /** How long a process that ends waits for its sweeps; the next one finishes them. */
    stopMsMax: 5 * second,
  },
} as const;
