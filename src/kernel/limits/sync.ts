/** Limits for sources that a corpus follows. */
import { day, hour, mebibyte, minute, second } from './unit.ts';

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
    /** A schedule with two intervals: so often the first is doubled at most. */
    quietRunsMax: 30,
    pollMs: 1 * second,
    /** Entries compared in one transaction. */
    pageMax: 2000,
    /** Files of a folder compared in one transaction: with fewer, a run takes less memory. */
    folderPageMax: 500,
    /** Files hashed at once. */
    digestsAtOnce: 8,
    statsAtOnce: 32,
    /** How long a comparison waits for a job that is reading the document at this moment. */
    readWaitMs: 30 * second,
    readPollMs: 50,
    /** Documents that a kind reads itself: at once, and submitted as one job. */
    readsAtOnce: 4,
    readPageMax: 100,
    /** Files of a repository, objects of a bucket. */
    filesMax: 1_000_000,
    /** The longest call of git, and what is kept of its output. */
    gitMs: 10 * minute,
    gitMessageCharactersMax: 2000,
    gitAnswerBytesMax: 100_000,
    gitRowBytesMax: 100_000,
    /** Pages that a listing reads itself: in one transaction, and held in memory by a crawl. */
    pagesAtOnce: 50,
    pageBytesMax: 16_000_000,
    heldBytesMax: 64_000_000,
    feedEntriesMax: 10_000,
    /** Links stored with the stamp of a page. */
    linksMax: 2000,
    /** The longest wait of a listing for a domain. */
    domainWaitMs: 1 * minute,
    /** Documents renamed or removed in one transaction. */
    renamesMax: 200,
    /** Documents submitted as one job. */
    submitMax: 10_000,
    /** A run is taken over after this time without a commit. */
    holdMs: 2 * minute,
    runsAtOnce: 2,
    /** Both exceeded: the removals wait for a person. A source may have another percentage. */
    removedPercentMax: 20,
    removedMax: 10,
    /** A file written this recently may change again without a new time. */
    settleMs: 2 * second,
    /** How long a removed document can be brought back. */
    restoreMs: 7 * day,
    /** Messages that a source has changed: the largest, its clock, and how long it is known. */
    signalBytesMax: 4 * mebibyte,
    signalClockMsMax: 5 * minute,
    signalsKeptMs: 30 * day,
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
