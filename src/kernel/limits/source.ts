/** Limits for external input: fetching, parsing and chunking. */
import { hour, kibibyte, mebibyte, second } from './unit.ts';

export const sourceLimits = {
  /** Parser processes, each with one document at a time. */
  parser: {
    startMs: 30 * second,
    /** CPU time per document. */
    documentMs: 30 * second,
    /**
     * Wall-clock limit as a multiple of the CPU limit, unless the process uses this share of its
     * CPU time.
     */
    waitFactor: 4,
    waitCpuFactor: 0.01,
    /** After this much CPU time a document gives up its slot, and keeps its process. */
    sliceCpuMs: 3 * second,
    /** OCR takes about half a second per page. */
    slowDocumentMs: 90 * second,
    /** How much garbage is kept before it is collected (docs/decisions/0212). */
    semiSpaceMib: 8,
    heapGrowingPercent: 100,
    heapMib: 512,
    /**
     * A process above this is killed. Low enough that none exceeds a gibibyte between two checks.
     */
    memoryBytesMax: 768 * mebibyte,
    memoryLookMs: 25,
    /**
     * Limit enforced by the system in case a check comes too late: reserved memory, not used
     * memory.
     */
    reservedBytesMax: 1536 * mebibyte,
    /** An idle process that keeps more than this is replaced. */
    restingMemoryBytesMax: 400 * mebibyte,
    documentsPerProcessMax: 1000,
    /** Folders of killed processes that are removed at start. */
    leftoversMax: 1000,
    idleMs: 60 * second,
    /** Plain text up to this size is read in this process: handing it over would cost more. */
    inProcessBytesMax: 1 * mebibyte,
    /** Markdown may contain HTML and front matter, which take longer. */
    markdownInProcessBytesMax: 64 * kibibyte,
    textBytesMax: 20 * mebibyte,
    headerBytesMax: 1 * mebibyte,
    /** Characters kept of the last output of a dying process. */
    lastWordsCharactersMax: 4000,
  },

  /** Limits of one document. */
  document: {
    sourceBytesMax: 64 * mebibyte,
    /** Fetched bytes up to this are stored in a row, larger ones in a blob. */
    rowBytesMax: 64 * kibibyte,
    /** The default; a corpus may have its own values. */
    chunkTokensMax: 256,
    chunkOverlapTokens: 32,
    ownChunkTokensMin: 32,
    ownChunkTokensMax: 2048,
    chunksMax: 20_000,
    headingCharactersMax: 1000,
    /** A longer table header or fence is not repeated in each chunk, even with few tokens. */
    frameCharactersMax: 2000,
    entitiesMax: 20_000,
    /** Runs of capitalized words that are scored; about 20 MB of prose. */
    candidatesMax: 500_000,
    /** Stored mentions of one entity; all of them are counted. */
    mentionsPerEntityMax: 1000,
    entityAliasesMax: 20,
    entityNameCharactersMax: 300,
    relationsMax: 500,
  },

  /** Input and output limits of a parser, independent of what the file declares. */
  parse: {
    textCharactersMax: 20 * mebibyte,
    pdfPagesMax: 2000,
    /** Pages passed to the parser together: it can be stopped between two groups. */
    pdfBatchPages: 64,
    /** Table detection is skipped on pages above this many words times blocks, or lines drawn. */
    pdfTableWorkMax: 5_000_000,
    pdfRulesMax: 2000,
    /** OCR takes about half a second per page. */
    ocrPagesMax: 100,
    imagePixelsMax: 50_000_000,
    /** Size of a page that is rendered for OCR. */
    ocrPixelsMax: 25_000_000,
    zipEntriesMax: 10_000,
    zipNameCharactersMax: 1024,
    zipEntryBytesMax: 128 * mebibyte,
    /** All entries together, both declared and actual size. */
    zipBytesMax: 200 * mebibyte,
    /** For entries above one mebibyte. Sheets of zeros reach a ratio of a hundred. */
    zipRatioMax: 300,
    xmlDepthMax: 256,
    /** A thousand printed pages have half as many. */
    xmlElementsMax: 1_000_000,
    /** Word documents up to this are read through a tree; longer ones in one pass. */
    docxTreeBytesMax: 2 * mebibyte,
    cellsMax: 1_000_000,
    columnsMax: 4096,
    recordCharactersMax: 1 * mebibyte,
    jsonDepthMax: 200,
    lineCharactersMax: 8 * mebibyte,
    mailDepthMax: 64,
    /** Read from an OLE container, whose streams may be forged to overlap. */
    oleBytesMax: 256 * mebibyte,
  },

  /** Files attached to a mail; each becomes a document. */
  attachment: {
    /** Per mail. */
    filesMax: 100,
    /** Per mail, including all mails attached to it. */
    filesAllMax: 1000,
    /** All files of one mail together: the maximum size of a mail. */
    bytesMax: 64 * mebibyte,
    /** A file in a mail that is attached to a mail has depth 2. */
    depthMax: 5,
    nameCharactersMax: 200,
    /** A referenced image up to this size is decoration: a logo, a line, an icon. */
    decorationBytesMax: 32 * kibibyte,
  },

  /** Polite fetching. */
  fetch: {
    redirectsMax: 10,
    /** RFC 9309 asks for at least five. */
    robotsRedirectsMax: 5,
    urlCharactersMax: 8192,
    /** Other ports of public hosts are reached only if host and port are explicitly allowed. */
    portsAllowed: [80, 443, 8000, 8008, 8080, 8081, 8443, 8888],
    connectMs: 10 * second,
    /** Addresses of one host name that are tried in turn. */
    addressesTriedMax: 3,
    headersMs: 30 * second,
    /** Without a byte for this long, the server counts as gone. */
    idleMs: 20 * second,
    /** From the first lookup to the last byte, over all redirects. */
    wholeMs: 60 * second,
    headerBytesMax: 64 * kibibyte,
    /** Size on the wire, before decompression. */
    wireBytesMax: 64 * mebibyte,
    /** Bytes read of an error page, to distinguish a shield from a plain refusal. */
    errorBytesMax: 64 * kibibyte,
    robotsBytesMax: 512 * kibibyte,
    robotsTtlMs: 24 * hour,
    /** Characters of robots rules that the links of one page are compared with. */
    robotsComparedMax: 64 * mebibyte,
    sitemapsMax: 20,
    /** Time for sitemaps within the step that reads the first page of a crawl. */
    sitemapsMs: 30 * second,
    sitemapBytesMax: 16 * mebibyte,
    /** A longer crawl delay of a site is capped, so that the crawl does not stop. */
    crawlDelayMsMax: 60 * second,
    slowestDomainIntervalMs: 120 * second,
    domainConcurrencyMax: 2,
    domainIntervalMs: 500,
    /** The highest concurrency that an owner may allow for a domain. */
    paceConcurrencyMax: 256,
    /** Concurrency once a site shows anti-bot protection. */
    guardedDomainConcurrencyMax: 1,
    guardedDomainIntervalMs: 10 * second,
  },

  /** Pages rendered by a browser, because their text comes from scripts. */
  browser: {
    launchMs: 20 * second,
    /** From the first byte to the text, and the part of it for loading. */
    renderMs: 20 * second,
    settleMs: 12 * second,
    /** A page without requests for this long has loaded. */
    quietMs: 500,
    closeMs: 5 * second,
    requestsMax: 200,
    /** Per response, and all together. */
    answerBytesMax: 8 * mebibyte,
    bytesMax: 32 * mebibyte,
    pagesAtOnceMax: 2,
    /** Then a new process is started: browsers grow with use. */
    pagesPerProcessMax: 100,
    idleMs: 60 * second,
    scriptMemoryMib: 512,
    /** A page with fewer words, and with scripts, is taken for an empty shell. */
    shellWordsMax: 40,
  },
} as const;
