/** Limits for applying a job command to the items of the job, and for packing old rows. */
import { kibibyte, mebibyte, second } from './unit.ts';

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

  /** Texts and bytes that are stored compressed. */
  packing: {
    /** Less is stored as it is. */
    bytesMin: 512,
    /** More is compressed off the event loop, if this much of its beginning shrinks. */
    sampleBytes: 64 * kibibyte,
    /** Stored packed if it takes less than this part of its size. */
    packedFactor: 0.9,
    /** What one transaction packs of an older store. */
    rowsMax: 50,
    bytesMax: 4 * mebibyte,
    /** Transactions of one sweep. */
    transactionsMax: 50,
  },
} as const;
