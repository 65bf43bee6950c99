/**
 * Every bound in Pawl, in one table: no loop, list, body, queue or retry is without one. Those of
 * what comes from outside, pages and files, stand in `source.ts`.
 * The unit stands last in the name. `limits.test.ts` holds the relations between them.
 */
import { batchLimits } from './batch.ts';
import { callerLimits } from './caller.ts';
import { handoffLimits } from './handoff.ts';
import { hotViewLimits, queueLimits } from './queue.ts';
import { requestLimits } from './request.ts';
import { searchLimits } from './search.ts';
import { sinkLimits } from './sink.ts';
import { sourceLimits } from './source.ts';
import { suspectLimits } from './suspect.ts';
import { sweepLimits } from './sweep.ts';
import { textLimits } from './text.ts';
import { day, hour, kibibyte, mebibyte, minute, second } from './unit.ts';

export const limits = {
  /** The right to work on an item. */
  lease: {
    heartbeatMs: 10 * second,
    /** Without a heartbeat for this long, the worker counts as dead. */
    ttlMs: 90 * second,
    claimBatchMax: 512,
    commitBatchMax: 512,
    /** Items that one worker process holds at once. */
    itemsInFlightMax: 64,
    /** How often an item may be taken from a worker that it stood still at. */
    stallsMax: 3,
  },

  /** The background loops. */
  loop: {
    rescueIntervalMs: 1 * second,
    sweepIntervalMs: 60 * second,
    /** Thousands of objects in a bucket take their time; after this another process may sweep. */
    sweepMsMax: 30 * minute,
    /** An idle dispatcher looks again after a time that grows from the first to the second. */
    pollMsMin: 50,
    pollMsMax: 1 * second,
    /** How long a free place waits for others, to be filled together with them. */
    refillMs: 5,
    stageStuckMs: 30 * minute,
    shutdownGraceMs: 10 * second,
    /** Rows that a sweep removes in one transaction, so that writers are not held up. */
    pruneBatchMax: 1000,
    /** Fetched bytes that nobody refers to are kept for so long: a step may be about to. */
    blobGraceMs: 1 * day,
    /** What other processes have written is told within this time. */
    relayPollMs: 250,
    /** Work on the event loop that strangers can make long pauses after this time. */
    sliceMs: 15,
    /** Nothing may hold the event loop for longer: what does is logged and counted. */
    stallMs: 250,
    stallLookMs: 50,
    stallLogMs: 1 * minute,
  },

  /** What is told of an outage: it is over when nothing has failed for a while. */
  outage: {
    /** Longer than a heartbeat that waits in vain for a connection. */
    quietMs: 30 * second,
    lookMs: 5 * second,
    remindMs: 5 * minute,
  },

  store: {
    busyTimeoutMs: 5 * second,
    cacheKib: 32 * kibibyte,
    /** Of the connection that reads while another writes: it keeps nothing over a commit. */
    readerCacheKib: 4 * kibibyte,
    checkpointPages: 4000,
    fileCheckMs: 1 * second,
    connectionsMax: 10,
    /**
     * Commits of one process that are under way at once: one is prepared while another is flushed.
     */
    commitsMax: 3,
    connectTimeoutMs: 10 * second,
    /** How long a transaction may do nothing. Far less than a lease: all others wait for it. */
    idleTransactionMs: 10 * second,
    /** How often a transaction that lost to a deadlock is run again. */
    conflictRetriesMax: 5,
    /** Writes of one turn that go into one commit. */
    worksPerCommitMax: 256,
    /** After so many statements of a transaction, or rows of a job, others have their turn. */
    statementsPerTurn: 250,
    /** Items that are inserted with one statement. */
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
    /** The longest a job may take. */
    wallClockMs: 7 * day,
    /** Documents of a corpus that a job which embeds it anew takes at a time. */
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

  /** Whose turn it is. A head start is counted in items of virtual time. */
  fairness: {
    priorityMin: 0,
    priorityMax: 9,
    priorityDefault: 0,
    headStart: 1000,
  },

  /** How long one step may take: answered inline, and run by a worker. */
  step: {
    syncMs: { scraping: 30 * second, chunking: 10 * second, embedding: 60 * second },
    workerMs: { scraping: 2 * minute, chunking: 2 * minute, embedding: 10 * minute },
    /** The wait for a free parser included, and that may be long behind large documents. */
    extractMs: 15 * minute,
  },

  ...suspectLimits,

  ...sourceLimits,

  ...callerLimits,
  ...sinkLimits,

  ...sweepLimits,

  text: textLimits,

  /** The interactive attempt: what a person stages, and what is made of it before the commit. */
  attempt: {
    /** Callers that have an attempt open at once. */
    callersMax: 16,
    /** A paused one gives its place to another caller after so long. */
    pausedMsMax: 30 * minute,
    /** Of one caller. */
    sourcesMax: 1000,
    stagedBytesMax: 1024 * mebibyte,
    /** Of all callers. */
    stagedBytesAllMax: 4096 * mebibyte,
    /** What was staged longer ago makes room for others, where there is none left. */
    stagedMsMax: 1 * day,
    /** Text of one commit: some two seconds, which is less than others wait for the store. */
    textBytesMax: 64 * mebibyte,
    /** Sources that are read or parsed at once. */
    sourcesAtOnceMax: 4,
    nameCharactersMax: 500,
    /** How often the folder of a living process is touched, and when silence means death. */
    touchMs: 1 * hour,
    silentMsMax: 1 * day,
  },

  corpus: {
    /** The corpus of a job that names none. */
    nameDefault: 'default',
    nameCharactersMax: 64,
    namePattern: /^[a-z0-9][a-z0-9._-]{0,63}$/,
    /** With the namespace that it lives in, where that is not the caller's own. */
    fullNamePattern: /^[a-z0-9][a-z0-9._-]{0,63}(@[\x21-\x7e\xb7]{1,132})?$/,
  },

  /** How long a rate limit is waited for. */
  wait: {
    retryAfterMsDefault: 30 * second,
    /** Such a wait spends no retry, so without a floor a `Retry-After: 0` would spin. */
    retryAfterMsMin: 1 * second,
    retryAfterMsMax: 1 * hour,
    /** An outage is waited out by looking again after such a time. */
    outageMsMin: 3 * second,
    outageMsMax: 15 * second,
  },

  /** What a provider is asked for at most, where its configuration says nothing else. */
  budget: {
    requestsPerMinute: 3000,
    tokensPerMinute: 1_000_000,
    concurrencyMax: 16,
    embeddingBatchMax: 96,
    /** What is asked for within this time goes as one request, up to these bounds of it. */
    gatherMs: 4,
    requestInputsMax: 512,
    requestTokensMax: 100_000,
    requestMs: 60 * second,
    answerBytesMax: 64 * mebibyte,
    /** A refused batch is halved so often, at most, before all of it counts as refused. */
    halvingsMax: 3,
  },

  /** Answers that were paid for, and are not asked for again. */
  result: {
    ageMsMax: 180 * day,
    rowsMax: 500_000,
    /** Keys that are looked up at once. */
    pageMax: 500,
    /** Money that is set aside for a call that is never heard of again comes back after this. */
    reservationMsMax: 10 * minute,
  },

  /** What an estimate looks at before anything is paid. */
  estimate: {
    /** So many files are read and cut; of more, these are a sample spread over all. */
    filesReadMax: 200,
    /** A page that was not read has from so many to so many tokens, and most often the middle. */
    pageTokens: { least: 200, likely: 1_200, most: 6_000 },
    /** Of a crawl that was given a limit, so large a share of it at least. */
    crawlPagesLeast: 1,
  },

  /** Questions to a language model. */
  completion: {
    wholeMs: 2 * minute,
    answerBytesMax: 4 * mebibyte,
    /** How much of a document is asked about at once. */
    passageTokensMax: 3000,
    /** Passages of one document that are asked about side by side. */
    passagesAtOnceMax: 4,
    concurrencyMax: 16,
    /** How long an answer is judged to be before it is there, beside its passage. */
    answerFactor: 0.5,
    requestsPerMinute: 500,
    tokensPerMinute: 200_000,
    /** Entities that an answer about one passage may have. */
    claimsMax: 2000,
  },

  ...batchLimits,

  /** A caller's share of the service. */
  rate: {
    windowMs: 1 * hour,
    capacityRequests: 36_000,
    floorRequests: 600,
    burstFactor: 1.5,
    internalFactor: 20,
    /** What a tier may ask for in a window, where Membership's claims give no number. */
    tiers: { free: 600, pro: 6000, enterprise: 36_000 },
    /** The largest limit and the longest window that Membership's claims can give. */
    claimedRequestsMax: 1_000_000,
    claimedWindowSecondsMax: 24 * 60 * 60,
    /** Held in memory, for each pool; whoever was not seen for longest makes room. */
    callersMax: 10_000,
    loggedRequestsMax: 4_000_000,
    queueDepthMax: 1_000_000,
    /** What may be set instead. */
    queueDepthMost: 1_000_000_000,
    queueCountAgeMsMax: 1 * second,
    queueRetryAfterMs: 30 * second,
  },

  ...handoffLimits,

  trace: {
    batchMax: 512,
    /** Beyond so many that wait to be sent, spans are dropped. */
    spansHeldMax: 4096,
    waitMs: 2 * second,
    timeoutMs: 10 * second,
  },

  webhook: {
    timeoutMs: 15 * second,
    /** A sender of which nothing is heard for so long has died. */
    leaseMs: 1 * minute,
    pollMs: 30 * second,
    atOnceMax: 16,
    retry: { attemptsMax: 10, baseMs: 5 * second, factor: 4, capMs: 6 * hour },
    secretCharactersMin: 24,
  },

  /** What a key may be. */
  key: {
    charactersMax: 512,
    internalCharactersMin: 24,
    callerIdCharactersMax: 128,
    /** So many wrong keys may one source bring in so much time. */
    guessesMax: 100,
    guessesWindowMs: 1 * minute,
  },

  membership: {
    timeoutMs: 2 * second,
    cacheTtlMs: 60 * second,
    cachedKeysMax: 10_000,
    /** So many failures in a row open the circuit, for so long. */
    circuitFailuresMax: 3,
    circuitOpenMs: 30 * second,
    /** A key that was refused may be made valid: it is asked about again after this time. */
    refusedTtlMs: 5 * second,
    /** Questions under way at once; beyond that, callers are asked to come back. */
    callsMax: 256,
    retryAfterMs: 1 * second,
    replyBytesMax: 16 * kibibyte,
    scopesMax: 100,
    claimCharactersMax: 128,
  },

  /** Redis holds what can be done without: nobody waits long for it. */
  redis: {
    connectTimeoutMs: 2 * second,
    commandTimeoutMs: 500,
    reconnectMsMax: 2 * second,
    /** So many failures in a row, and it is left alone for so long. */
    circuitFailuresMax: 3,
    circuitOpenMs: 5 * second,
  },

  /** Messages between processes. */
  queue: queueLimits,

  /** What orchestrators show each other of jobs. */
  hotView: hotViewLimits,

  audit: {
    fieldCharactersMax: 256,
    /** Refused callbacks that are told in a minute; of more only the number. */
    refusalsMax: 60,
    refusalsWindowMs: 1 * minute,
  },

  search: searchLimits,

  request: requestLimits,

  event: {
    pageMax: 1000,
    retentionDays: 30,
    /** Events of a job that one command shows. */
    shownMax: 1_000_000,
    streamCommentMs: 15 * second,
    streamsMax: 4000,
    streamsPerCallerMax: 1000,
    /** Events that a stream reads at once while it catches up. */
    streamPageMax: 100,
    /** When a client comes back after the service told it to. */
    streamRetryMs: 1 * second,
    streamAgeMsMax: 1 * hour,
    /** How often the status of a job is looked up for its streams, at most. */
    statusLookMs: 250,
    /** Looking takes one part in so many of the time, also where a job is large. */
    statusLookShare: 10,
    /** Jobs whose callers are remembered, so that each event need not ask. */
    jobsRememberedMax: 10_000,
  },
} as const;
