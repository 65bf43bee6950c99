/** Limits for caller identities and shares. */
import { second } from './unit.ts';

export const callerLimits = {
  caller: {
    /** How long a process may use a cached key identity or share. */
    cacheMs: 5 * second,
    cachedMax: 10_000,
    /** Rows of a move in one transaction. */
    moveRowsMax: 1000,
    moveIntervalMs: 5 * second,
    /** A move is checked again for this long: after that no process has a stale cache entry. */
    settleMs: 30 * second,
    /** How long a request that merges two callers waits for their jobs. */
    moveWaitMs: 2 * second,
    /** Callers that one corpus may be shared with. */
    sharesMax: 1000,
  },
} as const;
