/** Limits for sources that a corpus follows. */
import { day, hour, minute, second } from './unit.ts';

export const syncLimits = {
  sync: {
    sourcesMax: 1000,
    nameCharactersMax: 64,
    namePattern: /^[a-z0-9][a-z0-9._-]{0,63}$/,
    locationCharactersMax: 4096,
    patternsMax: 50,
    /** Schedules: the shortest and the longest interval. */
    everyMsMin: 10 * second,
    everyMsMax: 366 * day,
    pollMs: 1 * second,
    /** Entries compared in one transaction. */
    pageMax: 2000,
    /** Files hashed at once. */
    digestsAtOnce: 8,
    statsAtOnce: 32,
    /** Documents renamed or removed in one transaction. */
    renamesMax: 200,
    /** Documents submitted as one job. */
    submitMax: 10_000,
    /** A run is taken over after this time without a commit. */
    holdMs: 2 * minute,
    runsAtOnce: 2,
    /** Both exceeded: the removals wait for a person. */
    removedPercentMax: 20,
    removedMax: 10,
    /** A file written this recently may change again without a new time. */
    settleMs: 2 * second,
    /** How long a removed document can be brought back. */
    restoreMs: 7 * day,
    runsKept: 50,
    purgeMs: 1 * minute,
    purgeMax: 200,
    /** Bounds of the wait after a failed run. */
    retryMsMin: 10 * second,
    retryMsMax: 1 * hour,
    /** `pawl watch`: quiet time after an event, and the longest delay of a run. */
    debounceMs: 300,
    debounceMsMax: 3 * second,
    watchPollMs: 5 * second,
    recheckMs: 5 * minute,
  },
} as const;
