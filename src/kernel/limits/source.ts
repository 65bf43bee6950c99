/** The bounds of what comes from outside: how it is fetched, parsed and cut. */
import { hour, kibibyte, mebibyte, second } from './unit.ts';

export const sourceLimits = {
  /** The processes that turn bytes into text, each at one document at a time. */
  parser: {
    startMs: 30 * second,
    /** CPU time of a document. */
    documentMs: 30 * second,
    /** It may wait so many times as long, unless it meanwhile uses this share of its CPU time. */
    waitFactor: 4,
    waitCpuFactor: 0.01,
    /** After so much CPU time a document gives up its place in the line, and keeps its process. */
    sliceCpuMs: 3 * second,
    /** Text recognition takes about half a second a page. */
    slowDocumentMs: 90 * second,
    heapMib: 512,
    /** Killed above this. Low enough that between two looks none grows beyond a gibibyte. */
    memoryBytesMax: 768 * mebibyte,
    memoryLookMs: 25,
    /** What the system itself refuses, should we look too late: reserved, not only used, memory. */
    reservedBytesMax: 1536 * mebibyte,
    /** A process that keeps more than this between documents makes room for a new one. */
    restingMemoryBytesMax: 400 * mebibyte,
    documentsPerProcessMax: 1000,
    /** Folders of killed processes that are removed at a start. */
    leftoversMax: 1000,
    idleMs: 60 * second,
    /** Plain text up to this is read where it is: to hand it over would cost more. */
    inProcessBytesMax: 1 * mebibyte,
    /** Markdown may hold HTML and front matter, which take longer. */
    markdownInProcessBytesMax: 64 * kibibyte,
    textBytesMax: 20 * mebibyte,
    headerBytesMax: 1 * mebibyte,
    /** So much of what a dying process said is looked at. */
    lastWordsCharactersMax: 4000,
  },

  /** What one document may be. */
  document: {
    sourceBytesMax: 64 * mebibyte,
    /** Fetched bytes up to this stand in the store itself, larger ones in a blob. */
    rowBytesMax: 64 * kibibyte,
    chunkTokensMax: 256,
    chunkOverlapTokens: 32,
    chunksMax: 20_000,
    headingCharactersMax: 1000,
    /** A longer table header or fence is not repeated in each chunk, however few tokens it has. */
    frameCharactersMax: 2000,
    entitiesMax: 20_000,
    /** Runs of capitals that are weighed; about what twenty megabytes of prose have. */
    candidatesMax: 500_000,
    /** Places of one entity that are kept; all of them are counted. */
    mentionsPerEntityMax: 1000,
    entityAliasesMax: 20,
    entityNameCharactersMax: 300,
    relationsMax: 500,
  },

  /** What a parser takes in and gives out, whatever the file says of itself. */
  parse: {
    textCharactersMax: 20 * mebibyte,
    pdfPagesMax: 2000,
    /** Pages that are handed to the parser at once: between them it can be told to stop. */
    pdfBatchPages: 64,
    /** Up to so many words times blocks, and lines drawn, tables are looked for on a page. */
    pdfTableWorkMax: 5_000_000,
    pdfRulesMax: 2000,
    /** To recognize the text of a page takes about half a second. */
    ocrPagesMax: 100,
    imagePixelsMax: 50_000_000,
    /** Of a page that is drawn to be recognized. */
    ocrPixelsMax: 25_000_000,
    zipEntriesMax: 10_000,
    zipNameCharactersMax: 1024,
    zipEntryBytesMax: 128 * mebibyte,
    /** Of all entries together, by what the archive says and by what comes out. */
    zipBytesMax: 200 * mebibyte,
    /** Of an entry that comes to more than a mebibyte. Sheets of zeros reach a hundred. */
    zipRatioMax: 300,
    xmlDepthMax: 256,
    /** A thousand printed pages have half as many. */
    xmlElementsMax: 1_000_000,
    /** Of a Word document that is read through a tree; longer ones are read in one pass. */
    docxTreeBytesMax: 2 * mebibyte,
    cellsMax: 1_000_000,
    columnsMax: 4096,
    recordCharactersMax: 1 * mebibyte,
    jsonDepthMax: 200,
    lineCharactersMax: 8 * mebibyte,
    mailDepthMax: 64,
    /** Read from a container of an old Office format, whose streams may be forged to overlap. */
    oleBytesMax: 256 * mebibyte,
  },

  /** The files of a mail, each of which becomes a document. */
  attachment: {
    /** Of one mail. */
    filesMax: 100,
    /** Of one mail together with all mails that are attached to it. */
    filesAllMax: 1000,
    /** All files of one mail together: as much as a mail itself may have. */
    bytesMax: 64 * mebibyte,
    /** A file of a mail that is attached to a mail has depth 2. */
    depthMax: 5,
    nameCharactersMax: 200,
    /** A picture that the text refers to is decoration up to this: a logo, a line, an icon. */
    decorationBytesMax: 32 * kibibyte,
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
    /** Characters of rules that the links of one page are compared with, all together. */
    robotsComparedMax: 64 * mebibyte,
    sitemapsMax: 20,
    /** Their share of the step that reads the first page of a crawl. */
    sitemapsMs: 30 * second,
    sitemapBytesMax: 16 * mebibyte,
    /** A site may ask for more time between requests, but not for standing still. */
    crawlDelayMsMax: 60 * second,
    slowestDomainIntervalMs: 120 * second,
    domainConcurrencyMax: 2,
    domainIntervalMs: 500,
    /** What an owner may allow for a domain at most. */
    paceConcurrencyMax: 256,
    /** Once a site shows that it defends itself against robots. */
    guardedDomainConcurrencyMax: 1,
    guardedDomainIntervalMs: 10 * second,
  },

  /** Pages that are shown by a browser, because they come without their text. */
  browser: {
    launchMs: 20 * second,
    /** From the first byte to the text, and how long of it the page may go on loading. */
    renderMs: 20 * second,
    settleMs: 12 * second,
    /** A page that asks for nothing for so long has loaded. */
    quietMs: 500,
    closeMs: 5 * second,
    requestsMax: 200,
    /** Of one answer, and of all together. */
    answerBytesMax: 8 * mebibyte,
    bytesMax: 32 * mebibyte,
    pagesAtOnceMax: 2,
    /** Then a new process takes over: browsers grow with what they have seen. */
    pagesPerProcessMax: 100,
    idleMs: 60 * second,
    scriptMemoryMib: 512,
    /** A page that shows fewer words, and has scripts, is taken for an empty shell. */
    shellWordsMax: 40,
  },
} as const;
