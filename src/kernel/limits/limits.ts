/**
 * All limits of Pawl in one table: every loop, list, body, queue and retry has one. Limits for
 * external input (pages and files) are in `source.ts`. The unit is the last part of the name.
 * `limits.test.ts` checks the relations between limits.
 */
import { batchLimits } from './batch.ts';
import { callerLimits } from './caller.ts';
import { eventLimits } from './event.ts';
import { handoffLimits } from './handoff.ts';
import { metadataLimits } from './metadata.ts';
import { hotViewLimits, queueLimits } from './queue.ts';
import { requestLimits } from './request.ts';
import { searchLimits } from './search.ts';
import { sinkLimits } from './sink.ts';
import { sourceLimits } from './source.ts';
import { suspectLimits } from './suspect.ts';
import { sweepLimits } from './sweep.ts';
import { syncLimits } from './sync.ts';
import { textLimits } from './text.ts';
import { day, hour, kibibyte, mebibyte, minute, second } from './unit.ts';

export const limits = {
  /** The exclusive right to work on an item. */
  lease: {
    heartbeatMs: 10 * second,
    /** Without a heartbeat for this long, the worker counts as dead. */
    ttlMs: 90 * second,
    claimBatchMax: 512,
    commitBatchMax: 512,
    /** Items held by one worker process. */
    itemsInFlightMax: 64,
    /** How often a stalled item may be taken from its worker. */
    stallsMax: 3,
  },

  /** The background loops. */
  loop: {
    rescueIntervalMs: 1 * second,
    sweepIntervalMs: 60 * second,
    /** A sweep of a large bucket is slow; after this, another process may sweep. */
    sweepMsMax: 30 * minute,
    /** Poll interval of an idle dispatcher: grows from the first to the second. */
    pollMsMin: 50,
    pollMsMax: 1 * second,
    /** How long a free slot waits, so that several slots are filled with one claim. */
    refillMs: 5,
    stageStuckMs: 30 * minute,
    shutdownGraceMs: 10 * second,
    /** Rows removed per transaction, so that writers are not blocked. */
    pruneBatchMax: 1000,
    /** Unreferenced fetched bytes are kept this long: a step may be about to reference them. */
    blobGraceMs: 1 * day,
    /** Events written by other processes are published within this time. */
    relayPollMs: 250,
    /** Work on the event loop whose length depends on user input yields after this time. */
    sliceMs: 15,
    /** Longer blocking of the event loop is logged and counted. */
    stallMs: 250,
    stallLookMs: 50,
    stallLogMs: 1 * minute,
  },

  /** What a process remembers of its last hour. */
  activity: {
    intervalMs: 15 * second,
    keptMs: 1 * hour,
    /** Times kept per interval, of which the median is computed. */
    timesMax: 400,
  },

  /** Outage reports: an outage ends when nothing has failed for a while. */
  outage: {
    /** Longer than the connection timeout of a heartbeat. */
    quietMs: 30 * second,
    lookMs: 5 * second,
    remindMs: 5 * minute,
  },

  store: {
    busyTimeoutMs: 5 * second,
    cacheKib: 32 * kibibyte,
    /** Cache of the read connection; it keeps nothing across commits. */
    readerCacheKib: 4 * kibibyte,
    checkpointPages: 4000,
    fileCheckMs: 1 * second,
    connectionsMax: 10,
    /** Concurrent commits of one process: one is prepared while another is flushed. */
    commitsMax: 3,
    connectTimeoutMs: 10 * second,
    /** Maximum idle time of a transaction. Far below the lease: all other writers wait for it. */
    idleTransactionMs: 10 * second,
    /** How often a transaction is retried after a deadlock. */
    conflictRetriesMax: 5,
    /** Writes grouped into one commit. */
    worksPerCommitMax: 256,
    /**
     * After this many statements of a transaction, or rows of a job, the event loop gets a turn.
     */
    statementsPerTurn: 250,
    /** Items inserted with one statement. */
    itemsPerInsertMax: 1000,
  },

  /** What a caller may submit. */
  job: {
    itemsMax: 100_000,
    inlineTextBytesMax: 10 * mebibyte,
    sourceUrlCharactersMax: 2048,
    titleCharactersMax: 500,
    idempotencyKeyCharactersMax: 255,
    idempotencyTtlMs: 24 * hour,
    /** The default maximum duration of a job. */
    wallClockMs: 7 * day,
    /** Documents that a re-embedding or re-chunking job reads per page. */
    reembedPageMax: 10_000,
    crawlDepthMax: 20,
    crawlDepthDefault: 3,
    crawlPagesMax: 100_000,
    crawlPagesDefault: 1000,
    crawlLinksPerPageMax: 5000,
    crawlPatternsMax: 50,
    crawlPatternCharactersMax: 1000,
    crawlWildcardsMax: 32,
  },

  /** Scheduling order. A head start is counted in items of virtual time. */
  fairness: {
    priorityMin: 0,
    priorityMax: 9,
    priorityDefault: 0,
    headStart: 1000,
  },

  /** Timeouts of a step: answered inline, and run by a worker. */
  step: {
    syncMs: { scraping: 30 * second, chunking: 10 * second, embedding: 60 * second },
    workerMs: { scraping: 2 * minute, chunking: 2 * minute, embedding: 10 * minute },
    /** Includes the wait for a free parser, which can be long behind large documents. */
    extractMs: 15 * minute,
    /** The longest timeout that an added step may have. */
    addedMsMax: 60 * minute,
  },

  ...suspectLimits,

  ...sourceLimits,

  ...callerLimits,
  ...sinkLimits,

  ...sweepLimits,

  ...syncLimits,

  text: textLimits,

  /** The interactive attempt: staged sources, and their processing before the commit. */
  attempt: {
    /** Callers with an open attempt. */
    callersMax: 16,
    /** A paused attempt gives its slot to another caller after this. */
    pausedMsMax: 30 * minute,
    /** Per caller. */
    sourcesMax: 1000,
    stagedBytesMax: 1024 * mebibyte,
    /** Of all callers together. */
    stagedBytesAllMax: 4096 * mebibyte,
    /** If space runs out, sources staged longer ago than this are removed. */
    stagedMsMax: 1 * day,
    /** Text of one commit: about two seconds, less than the lock timeout of other writers. */
    textBytesMax: 64 * mebibyte,
    /** Sources read or parsed concurrently. */
    sourcesAtOnceMax: 4,
    nameCharactersMax: 500,
    /** How often a live process touches its folder, and when silence means it is dead. */
    touchMs: 1 * hour,
    silentMsMax: 1 * day,
  },

  corpus: {
    /** The corpus of a job that names none. */
    nameDefault: 'default',
    nameCharactersMax: 64,
    namePattern: /^[a-z0-9][a-z0-9._-]{0,63}$/,
    /** Includes the namespace, if it is not the caller's own. */
    fullNamePattern: /^[a-z0-9][a-z0-9._-]{0,63}(@[\x21-\x7e\xb7]{1,132})?$/,
  },

  /** How long to wait for a rate limit. */
  wait: {
    retryAfterMsDefault: 30 * second,
    /** Such a wait uses no retry, so without a minimum a `Retry-After: 0` would spin. */
    retryAfterMsMin: 1 * second,
    retryAfterMsMax: 1 * hour,
    /** Bounds of the wait between two checks during an outage. */
    outageMsMin: 3 * second,
    outageMsMax: 15 * second,
  },

  /** Default rate limits of a provider. */
  budget: {
    requestsPerMinute: 3000,
    tokensPerMinute: 1_000_000,
    concurrencyMax: 16,
    embeddingBatchMax: 96,
    /** Calls within this time are combined into one request, up to these limits. */
    gatherMs: 4,
    requestInputsMax: 512,
    requestTokensMax: 100_000,
    requestMs: 60 * second,
    answerBytesMax: 64 * mebibyte,
    /** How often a refused batch is halved before all of it counts as refused. */
    halvingsMax: 4,
    /** The least number of texts that is learned as the limit of a server. */
    learnedInputsMin: 32,
  },

  /** Cached responses that were paid for. */
  result: {
    ageMsMax: 180 * day,
    rowsMax: 500_000,
    /** Keys looked up per query. */
    pageMax: 500,
    /** Money reserved for a call without an outcome is released after this. */
    reservationMsMax: 10 * minute,
  },

  /** What an estimate reads before anything is paid. */
  estimate: {
    /** Files that are read and chunked; of more files, a sample of this size is used. */
    filesReadMax: 200,
    /** Assumed tokens of an unread page: least, likely, most. */
    pageTokens: { least: 200, likely: 1_200, most: 6_000 },
    /** Minimum share of a crawl's page limit that an estimate assumes. */
    crawlPagesLeast: 1,
  },

  /** Requests to a language model. */
  completion: {
    wholeMs: 2 * minute,
    answerBytesMax: 4 * mebibyte,
    /** Size of a passage of a document in one request. */
    passageTokensMax: 3000,
    /** Concurrent passages of one document. */
    passagesAtOnceMax: 4,
    concurrencyMax: 16,
    /** Expected length of a response, relative to its passage. */
    answerFactor: 0.5,
    requestsPerMinute: 500,
    tokensPerMinute: 200_000,
    /** Maximum number of entities in the response about one passage. */
    claimsMax: 2000,
  },

  /** Requests to a reranker. */
  rerank: {
    topN: 50,
    /** Of a passage with its title. */
    passageCharactersMax: 4000,
    wholeMs: 8 * second,
    /** An endpoint that is down is not asked for this long. */
    pauseMs: 5 * second,
    answerBytesMax: 1 * mebibyte,
    requestsPerMinute: 600,
    tokensPerMinute: 5_000_000,
  },

  /** Answers to questions. */
  answer: {
    passagesDefault: 8,
    passagesMax: 20,
    passageCharactersMax: 4000,
    /** A longer answer is cut. */
    charactersMax: 8000,
    /** Shorter than the idle time of a connection. */
    wholeMs: 80 * second,
    answerBytesMax: 4 * mebibyte,
    requestsPerMinute: 120,
    tokensPerMinute: 1_000_000,
  },

  ...batchLimits,

  /** Rate limits of a caller. */
  rate: {
    windowMs: 1 * hour,
    capacityRequests: 36_000,
    floorRequests: 600,
    burstFactor: 1.5,
    internalFactor: 20,
    /** Requests per window by tier, if Membership's claims give no number. */
    tiers: { free: 600, pro: 6000, enterprise: 36_000 },
    /** The largest limit and the longest window that Membership's claims can give. */
    claimedRequestsMax: 1_000_000,
    claimedWindowSecondsMax: 24 * 60 * 60,
    /** In memory, per pool; the least recently seen caller is evicted. */
    callersMax: 10_000,
    loggedRequestsMax: 4_000_000,
    queueDepthMax: 1_000_000,
    /** The highest value that may be configured. */
    queueDepthMost: 1_000_000_000,
    queueCountAgeMsMax: 1 * second,
    queueRetryAfterMs: 30 * second,
  },

  ...handoffLimits,

  trace: {
    batchMax: 512,
    /** Spans beyond this many unsent ones are dropped. */
    spansHeldMax: 4096,
    waitMs: 2 * second,
    timeoutMs: 10 * second,
  },

  webhook: {
    timeoutMs: 15 * second,
    /** A sender that is silent for this long is dead. */
    leaseMs: 1 * minute,
    pollMs: 30 * second,
    atOnceMax: 16,
    retry: { triesMax: 10, baseMs: 5 * second, factor: 4, capMs: 6 * hour },
    secretCharactersMin: 24,
  },

  /** Valid length of a key. */
  key: {
    charactersMax: 512,
    internalCharactersMin: 24,
    callerIdCharactersMax: 128,
    /** Wrong keys that one address may send in this time. */
    guessesMax: 100,
    guessesWindowMs: 1 * minute,
  },

  membership: {
    timeoutMs: 2 * second,
    cacheTtlMs: 60 * second,
    cachedKeysMax: 10_000,
    /** Consecutive failures that open the circuit, and for how long. */
    circuitFailuresMax: 3,
    circuitOpenMs: 30 * second,
    /** A refused key may become valid: it is checked again after this time. */
    refusedTtlMs: 5 * second,
    /** Concurrent requests; beyond that, callers are asked to come back. */
    callsMax: 256,
    retryAfterMs: 1 * second,
    replyBytesMax: 16 * kibibyte,
    scopesMax: 100,
    claimCharactersMax: 128,
  },

  /** Redis is optional here, so timeouts are short. */
  redis: {
    connectTimeoutMs: 2 * second,
    commandTimeoutMs: 500,
    reconnectMsMax: 2 * second,
    /** Consecutive failures after which Redis is not used, and for how long. */
    circuitFailuresMax: 3,
    circuitOpenMs: 5 * second,
  },

  /** Messages between processes. */
  queue: queueLimits,

  /** Job views that orchestrators share. */
  hotView: hotViewLimits,

  audit: {
    fieldCharactersMax: 256,
    /** Refused callbacks logged per minute; beyond that only their number. */
    refusalsMax: 60,
    refusalsWindowMs: 1 * minute,
  },

  search: searchLimits,

  metadata: metadataLimits,

  request: requestLimits,

  failure: {
    /** Of a message, without its middle if it is longer. */
    messageCharactersMax: 1000,
  },

  event: eventLimits,
} as const;
