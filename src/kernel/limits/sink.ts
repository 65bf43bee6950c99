/** The bounds of what is kept outside the store: in sinks, and in a bucket. */
import { mebibyte, minute, second } from './unit.ts';

export const sinkLimits = {
  /** Qdrant and Neo4j. */
  sink: {
    /** Chunks, entities or relations that go in one request. */
    batchMax: 128,
    callMs: 30 * second,
    searchMs: 10 * second,
    answerBytesMax: 32 * mebibyte,
    errorCharactersMax: 500,
    /** Generations or places that one query names; more are asked for in several queries. */
    namedMax: 10_000,
    collectionNameMax: 255,
    /** How often the log is read for what was deleted, and what it is read in. */
    pollMs: 1 * second,
    pageMax: 200,
    /** So many events may pass without a change before it is written down that they were read. */
    eventsSkippedMax: 1000,
    /** How often it is compared whether a sink still has what was delivered. */
    compareMs: 10 * minute,
    /** Documents that are delivered at once when a sink is filled. */
    fillAtOnce: 8,
    connectionsMax: 50,
  },

  /** Vectors that Postgres searches by pgvector. */
  points: {
    /** Among so many, all are compared; above that, the index is asked. */
    exactMax: 10_000,
    /** What pgvector can index, at two bytes each. */
    dimensionsMax: 4000,
    /** How many of the nearest the index looks for at once. */
    lookedForMax: 500,
    /** The index is left after so many points that a filter has refused. */
    scannedMax: 20_000,
    /** Generations whose older vectors get their points in one commit. */
    fillGenerations: 50,
    /** How often it is looked which models need an index. */
    pollMs: 10 * second,
  },

  /** A bucket of blobs. */
  bucket: {
    callMs: 2 * minute,
    /** Pages of a thousand names that one sweep of a part looks at. */
    listPagesMax: 1000,
    attemptsMax: 4,
    retryBaseMs: 200,
    retryCapMs: 5 * second,
  },
};
