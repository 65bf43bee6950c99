/**
 * Every bound in Pawl, in one place: no loop, list, body, queue or retry is without one.
 * The unit stands last in the name. `limits.test.ts` holds the relations between them.
 */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

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
    /** Workers that may die on an item before the item, not the worker, is blamed. */
    crashesMax: 3,
  },

  /** The background loops. */
  loop: {
    rescueIntervalMs: 1 * second,
    sweepIntervalMs: 60 * second,
    /** An idle dispatcher looks again after a time that grows from the first to the second. */
    pollMsMin: 50,
    pollMsMax: 1 * second,
    stageStuckMs: 30 * minute,
    shutdownGraceMs: 10 * second,
    /** Rows that a sweep removes in one transaction, so that writers are not held up. */
    pruneBatchMax: 1000,
    /** What other processes have written is told within this time. */
    relayPollMs: 250,
  },

  store: {
    busyTimeoutMs: 5 * second,
    cacheKib: 64 * kibibyte,
    checkpointPages: 4000,
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
  },

  /** What a caller may submit. */
  job: {
    itemsMax: 100_000,
    inlineTextBytesMax: 10 * mebibyte,
    sourceUrlCharactersMax: 2048,
    titleCharactersMax: 500,
    idempotencyKeyCharactersMax: 255,
    idempotencyTtlMs: 24 * hour,
    /** The longest a job may take: while a request waits for it, and by itself. */
    wallClockSyncMs: 300 * second,
    wallClockMs: 7 * day,
    crawlDepthMax: 20,
    crawlDepthDefault: 3,
    crawlPagesMax: 100_000,
    crawlPagesDefault: 1000,
    crawlLinksPerPageMax: 5000,
    crawlPatternsMax: 50,
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

  /** The processes that turn bytes into text, each at one document at a time. */
  parser: {
    startMs: 30 * second,
    documentMs: 30 * second,
    /** Text recognition takes about half a second a page. */
    slowDocumentMs: 90 * second,
    heapMib: 512,
    /** Killed above this. Low enough that between two looks none grows beyond a gibibyte. */
    memoryBytesMax: 768 * mebibyte,
    memoryLookMs: 25,
    /** A process that keeps more than this between documents makes room for a new one. */
    restingMemoryBytesMax: 400 * mebibyte,
    documentsPerProcessMax: 1000,
    idleMs: 60 * second,
    /** Plain text up to this is read where it is: to hand it over would cost more. */
    inProcessBytesMax: 1 * mebibyte,
    textBytesMax: 20 * mebibyte,
    headerBytesMax: 1 * mebibyte,
    /** So much of what a dying process said is looked at. */
    lastWordsCharactersMax: 4000,
  },

  /** What one document may be. */
  document: {
    sourceBytesMax: 64 * mebibyte,
    chunkTokensMax: 256,
    chunkOverlapTokens: 32,
    chunksMax: 20_000,
    entitiesMax: 20_000,
    /** Runs of capitals that are weighed; about what twenty megabytes of prose have. */
    candidatesMax: 500_000,
    /** Places of one entity that are kept; all of them are counted. */
    mentionsPerEntityMax: 1000,
    entityAliasesMax: 20,
    entityNameCharactersMax: 300,
    relationsMax: 500,
  },

  /** The interactive attempt: what a person stages, and what is made of it before the commit. */
  attempt: {
    sourcesMax: 1000,
    stagedBytesMax: 1024 * mebibyte,
    /** Text of one commit: some two seconds, which is less than others wait for the store. */
    textBytesMax: 64 * mebibyte,
    /** Sources that are read or parsed at once. */
    sourcesAtOnceMax: 4,
    /** Longer texts are cut beside the event loop, which must hear a stop. */
    cutHereCharactersMax: 128 * kibibyte,
    nameCharactersMax: 500,
    /** How often the folder of a living process is touched, and when silence means death. */
    touchMs: 1 * hour,
    silentMsMax: 1 * day,
  },

  corpus: {
    nameCharactersMax: 64,
    namePattern: /^[a-z0-9][a-z0-9._-]{0,63}$/,
  },

  /** Polite fetching. */
  fetch: {
    redirectsMax: 10,
    /** RFC 9309 asks for at least five. */
    robotsRedirectsMax: 5,
    urlCharactersMax: 8192,
    /** Other ports of public hosts are reached only if host and port are allowed by name. */
    portsAllowed: [80, 443, 8000, 8008, 8080, 8081, 8443, 8888],
    connectMs: 10 * second,
    /** Addresses of one name that are tried one after the other. */
    addressesTriedMax: 3,
    headersMs: 30 * second,
    /** Without a byte for this long, the other side counts as gone. */
    idleMs: 20 * second,
    /** From the first lookup to the last byte, over all redirects. */
    wholeMs: 60 * second,
    headerBytesMax: 64 * kibibyte,
    /** As they come, before any decompression. */
    wireBytesMax: 64 * mebibyte,
    /** So much of an error page is read, to tell a shield from a plain refusal. */
    errorBytesMax: 64 * kibibyte,
    robotsBytesMax: 512 * kibibyte,
    robotsTtlMs: 24 * hour,
    sitemapsMax: 20,
    /** Their share of the step that reads the first page of a crawl. */
    sitemapsMs: 30 * second,
    sitemapBytesMax: 16 * mebibyte,
    /** A site may ask for more time between requests, but not for standing still. */
    crawlDelayMsMax: 60 * second,
    slowestDomainIntervalMs: 120 * second,
    domainConcurrencyMax: 2,
    domainIntervalMs: 500,
    /** Once a site shows that it defends itself against robots. */
    guardedDomainConcurrencyMax: 1,
    guardedDomainIntervalMs: 10 * second,
  },

  /** How long a rate limit is waited for. */
  wait: {
    retryAfterMsDefault: 30 * second,
    /** Such a wait spends no retry, so without a floor a `Retry-After: 0` would spin. */
    retryAfterMsMin: 1 * second,
    retryAfterMsMax: 1 * hour,
  },

  /** What a provider is asked for at most, where its configuration says nothing else. */
  budget: {
    requestsPerMinute: 3000,
    tokensPerMinute: 1_000_000,
    concurrencyMax: 16,
    embeddingBatchMax: 96,
  },

  /** Questions to a language model. */
  completion: {
    wholeMs: 2 * minute,
    answerBytesMax: 4 * mebibyte,
    /** How much of a document is asked about at once. */
    passageTokensMax: 3000,
    /** Entities that an answer about one passage may have. */
    claimsMax: 2000,
  },

  /** Work at an outside provider. */
  batch: {
    pollIntervalMs: 120 * second,
    taskAgeMsMax: 26 * hour,
    /** The transient poll error with this number fails the provider's job. */
    pollErrorsMax: 3,
    jobsPerTaskMax: 1000,
  },

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
    queueRetryAfterMs: 30 * second,
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

  audit: {
    fieldCharactersMax: 256,
  },

  search: {
    topKDefault: 10,
    topKMax: 100,
    queryCharactersMax: 2000,
    timeoutMs: 10 * second,
    /** Passages that each list brings before the lists are fused. */
    candidatesMax: 1000,
    /** The first hits that lend their terms to the feedback query, and how many of them. */
    feedbackHits: 8,
    feedbackTerms: 20,
    /** How often a search begins again because a document was replaced under it. */
    restartsMax: 3,
    /** Vectors that are held in memory for scanning. */
    mirrorBytesMax: 4096 * mebibyte - mebibyte,
    /** Documents whose vectors are read at once. */
    mirrorPageMax: 256,
    /** Corpora that are held in memory; the one that was not searched for longest makes room. */
    mirrorPartitionsMax: 64,
    /** Beyond this the history may have gaps: what is held is read anew. */
    mirrorAgeMsMax: 1 * day,
  },

  request: {
    /** JSON carries up to one inline document of the largest size, escaped, and its fields. */
    bodyBytesMax: 24 * mebibyte,
    uploadFilesMax: 1000,
    uploadBytesMax: 1024 * mebibyte,
    headerIdCharactersMax: 128,
    headerBytesMax: 16 * kibibyte,
    /** From the first byte to the end of the headers, and of the body. */
    headersMs: 10 * second,
    bodyMs: 30 * second,
    uploadMs: 30 * minute,
    /** Without a byte in either direction for this long, a connection is closed. */
    idleMs: 60 * second,
    keepAliveMs: 5 * second,
    uploadsPerCallerMax: 4,
    connectionsMax: 4096,
    /** Jobs that a list looks at for one page, where the status has to be worked out. */
    jobsScannedMax: 1000,
    /** Places in the queue are counted up to this. */
    placesCountedMax: 10_000,
    pageItemsDefault: 50,
    pageItemsMax: 200,
  },

  event: {
    pageMax: 1000,
    retentionDays: 30,
    /** The oldest heartbeats and progress of a job are pruned beyond this; its transitions stay. */
    perJobMax: 1_000_000,
    streamCommentMs: 15 * second,
    streamsMax: 4000,
    streamsPerCallerMax: 1000,
    /** Events that a stream reads at once while it catches up. */
    streamPageMax: 100,
    /** When a client comes back after the service told it to. */
    streamRetryMs: 1 * second,
    streamAgeMsMax: 1 * hour,
    /** Jobs whose callers are remembered, so that each event need not ask. */
    jobsRememberedMax: 10_000,
  },
} as const;
