/** Limits for searches, and for what they hold in memory. */
import { day, hour, mebibyte, second } from './unit.ts';

export const searchLimits = {
  topKDefault: 10,
  topKMax: 100,
  queryCharactersMax: 2000,
  /** Cached vectors of queries that were paid for. */
  queriesRememberedMax: 256,
  /** A longer query is prose: quotation marks and dashes in it are no operators. */
  operatorWordsMax: 32,
  /** The first results to skip. */
  offsetMax: 1000,
  /** Corpora in one search. */
  corporaMax: 16,
  /** Of so many results in a row, so many may be of one document while others follow. */
  groupWindow: 10,
  groupPassagesMax: 3,
  /** Facets of one search. */
  facetsMax: 16,
  /** Each further passage of a document counts this much less than the one before it. */
  repeatFactor: 0.7,
  /** Values of one facet, the most frequent first. */
  facetValuesMax: 50,
  /** Misspelt words of a query for which a correction is looked up, and their length. */
  suggestedWordsMax: 3,
  suggestedLettersMin: 4,
  suggestedLettersMax: 24,
  timeoutMs: 10 * second,
  /** Passages from each list before the lists are fused. */
  candidatesMax: 500,
  /** Top hits used for the feedback query, and how many of their terms. */
  feedbackHits: 16,
  feedbackTerms: 12,
  /** After so many hits, a hit lends its terms with 1/e of the weight of the first. */
  feedbackFading: 8,
  /** With fewer passages that match the query, there is no feedback. */
  feedbackMatchesMin: 8,
  /** How often a search restarts because a document was replaced during it. */
  restartsMax: 3,
  /** Minimum number of nearest vectors that are rescored at full precision. */
  rescoredMin: 48,
  /** A search waits while the words of this many chunks are loaded, but not for more. */
  wordsAtOnceMax: 10_000,
  /** A larger corpus uses the database's own index: it would take too much memory. */
  wordsChunksMax: 4_000_000,
  /** Vectors held in memory for scanning. */
  mirrorBytesMax: 4096 * mebibyte - mebibyte,
  /** The index of a corpus with as many chunks is saved in a file for the next process. */
  savedChunksMin: 50_000,
  /** A file is not read, but written again, after more changes than one for so many chunks. */
  savedChunksPerChange: 100,
  /** How often a process looks whether a file of its copy is to be written. */
  savedCheckMs: 1 * hour,
  /** A file that keeps what was replaced since then is removed. */
  savedAgeMsMax: 1 * day,
  /** Documents whose vectors are read per page. */
  mirrorPageMax: 256,
  /** After this many chunks, the event loop gets a turn. */
  mirrorChunksAtOnce: 1000,
  /** Documents per page while the words of older generations are analyzed again. */
  reindexPageMax: 256,
  /** Corpora held in memory; the least recently searched one is evicted. */
  mirrorPartitionsMax: 64,
  /** Documents of a filter are read in pages of this size. */
  allowedPageMax: 10_000,
  /** Documents whose metadata is parsed and compared before the event loop gets a turn. */
  matchedPageMax: 1000,
  /** Documents that an index lookup may find; beyond that all documents are read in pages. */
  candidateDocumentsMax: 10_000,
  /** Rows that the index lookups of one filter may read, and how many rows a lookup counts as. */
  candidateRowsMax: 50_000,
  candidateLookupRows: 10,
  /** Filters whose documents are kept in memory, and how many documents they may have together. */
  filtersKeptMax: 64,
  filterDocumentsMax: 2_000_000,
  /** A heading filter that matches more chunks than this is refused. */
  allowedChunksMax: 500_000,
  /** Beyond this age the event history may have gaps: the mirror is read again. */
  mirrorAgeMsMax: 1 * day,
} as const;
