/** Limits for data outside the store: sinks and buckets. */
import { mebibyte, minute, second } from './unit.ts';

export const sinkLimits = {
  sink: {
    /** Chunks, entities or relations in one request. */
    batchMax: 128,
    callMs: 30 * second,
    searchMs: 10 * second,
    answerBytesMax: 32 * mebibyte,
    errorCharactersMax: 500,
    /** Generations or documents named in one query; more are split into several queries. */
    namedMax: 10_000,
    collectionNameMax: 255,
    /** How often the log is read for deletions, and in which page size. */
    pollMs: 1 * second,
    pageMax: 200,
    /** Events without a change before the cursor is stored. */
    eventsSkippedMax: 1000,
    /** How often a sink is compared with what was delivered. */
    compareMs: 10 * minute,
    /** Concurrent documents when a sink is filled. */
    fillAtOnce: 8,
    connectionsMax: 50,
  },

  /** Vectors that Postgres searches with pgvector. */
  points: {
    /** Up to this many, all are compared; above that, the index is used. */
    exactMax: 10_000,
    /** Maximum dimensions that pgvector can index as half-precision vectors. */
    dimensionsMax: 4000,
    /** Nearest vectors requested from the index per query. */
    lookedForMax: 500,
    /** The index scan ends after this many vectors that the filter refused. */
    scannedMax: 20_000,
    /** Generations whose older vectors are backfilled in one commit. */
    fillGenerations: 50,
    /** How often to check which models need an index. */
    pollMs: 10 * second,
  },

  /** A bucket of blobs. */
  bucket: {
    callMs: 2 * minute,
    /** Pages of a thousand names that one sweep lists. */
    listPagesMax: 1000,
    triesMax: 4,
    retryBaseMs: 200,
    retryCapMs: 5 * second,
  },
};
