/** The bounds of who is who, and of what is shared. */
import { second } from './unit.ts';

export const callerLimits = {
  caller: {
    /** How long a process may go on with what it last read: who a key is, what is shared. */
    cacheMs: 5 * second,
    cachedMax: 10_000,
    /** Rows of a move that go in one transaction. */
    moveRowsMax: 1000,
    moveIntervalMs: 5 * second,
    /** A move is looked at again for so long: by then no process has an older answer. */
    settleMs: 30 * second,
    /** How long the request that finds two callers to be one waits for their jobs. */
    moveWaitMs: 2 * second,
    /** Callers that one corpus may be shared with. */
    sharesMax: 1000,
  },
} as const;
