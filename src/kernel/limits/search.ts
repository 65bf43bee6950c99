/** The bounds of a search, and of what is held in memory for it. */
import { day, mebibyte, second } from './unit.ts';

export const searchLimits = {
  topKDefault: 10,
  topKMax: 100,
  queryCharactersMax: 2000,
  /** Vectors of queries that were paid for. */
  queriesRememberedMax: 256,
  timeoutMs: 10 * second,
  /** Passages that each list brings before the lists are fused. */
  candidatesMax: 500,
  /** The first hits that lend their terms to the feedback query, and how many of them. */
  feedbackHits: 8,
  feedbackTerms: 20,
  /** How often a search begins again because a document was replaced under it. */
  restartsMax: 3,
  /** At least so many of the nearest vectors are compared once more, by all their bytes. */
  rescoredMin: 48,
  /** A search waits while the words of so many chunks are read into memory, and for no more. */
  wordsAtOnceMax: 10_000,
  /** A larger corpus is left to the database's own index: it would take too much memory. */
  wordsChunksMax: 4_000_000,
  /** Vectors that are held in memory for scanning. */
  mirrorBytesMax: 4096 * mebibyte - mebibyte,
  /** Documents whose vectors are read at once. */
  mirrorPageMax: 256,
  /** After so many chunks, others have their turn. */
  mirrorChunksAtOnce: 1000,
  /** Corpora that are held in memory; the one that was not searched for longest makes room. */
  mirrorPartitionsMax: 64,
  /** Documents that a filter leaves are read so many at once. */
  allowedPageMax: 10_000,
  /** A filter by heading that leaves more chunks than this is refused. */
  allowedChunksMax: 500_000,
  /** Beyond this the history may have gaps: what is held is read anew. */
  mirrorAgeMsMax: 1 * day,
} as const;
