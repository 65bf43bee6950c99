/** Limits for HTTP. */
import { kibibyte, mebibyte, minute, second } from './unit.ts';

export const requestLimits = {
  /** The largest inline document, escaped, plus its fields. */
  bodyBytesMax: 24 * mebibyte,
  /** The largest job has about nine values per document. */
  jsonValuesMax: 1_500_000,
  /** Values parsed at once: one entry of a list, or everything but the lists. */
  jsonPartValuesMax: 100_000,
  jsonDepthMax: 64,
  /** Long lists are parsed in parts of about this size. */
  jsonPartBytes: 256 * kibibyte,
  jsonPartValues: 10_000,
  jsonScanBytes: 256 * kibibyte,
  /** Values inspected to report what is wrong with a request. */
  wrongValuesMax: 2_000,
  wrongEntriesMax: 10,
  wrongCharactersMax: 200,
  wrongNameCharactersMax: 32,
  uploadFilesMax: 1000,
  uploadBytesMax: 1024 * mebibyte,
  headerIdCharactersMax: 128,
  headerBytesMax: 16 * kibibyte,
  headersMax: 200,
  /** From the first byte to the end of the headers, and of the body. */
  headersMs: 10 * second,
  bodyMs: 30 * second,
  uploadMs: 30 * minute,
  /** Without a byte in either direction for this long, a connection is closed. */
  idleMs: 90 * second,
  /**
   * Longer than reverse proxies keep a connection for its next request (nginx and AWS 60 s, Traefik
   * 90 s, Caddy 120 s): a proxy that sends one while Pawl closes the connection answers 502.
   */
  keepAliveMs: 130 * second,
  uploadsPerCallerMax: 4,
  connectionsMax: 4096,
  /** Connections that have not sent a complete request yet. */
  silentConnectionsMax: 1024,
  /** Above this share of all connections, idle ones are closed. */
  idleConnectionsFactor: 0.9,
  /** A refused connection is closed this long after its response. */
  lingerMs: 1 * second,
  /** Entities in one response: these lists have no cursor. */
  entitiesMax: 10_000,
  /** Documents deleted by one request, each in a commit of its own. */
  deletedAtOnceMax: 1000,
  /** Jobs that a list reads for one page if the status has to be computed. */
  jobsScannedMax: 1000,
  /** Where the counts of jobs by group stop. */
  jobsCountedMax: 10_000,
  /** Items of a job that a list of one state looks at: in one query, and for one page. */
  itemsScannedAtOnce: 5_000,
  itemsScannedMax: 100_000,
  /** How long item counts are cached, and for how many jobs. */
  standingsAgeMsMax: 250,
  standingsRememberedMax: 1000,
  /** Queue positions are counted up to this. */
  placesCountedMax: 10_000,
  pageItemsDefault: 50,
  pageItemsMax: 200,
  /** Texts of an MCP message that are repeated in its response: ids, names and addresses. */
  mcpNameCharactersMax: 1000,
  /** The text of a document as an MCP resource. */
  resourceCharactersMax: 400_000,
} as const;
