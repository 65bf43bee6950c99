/** The bounds of what comes over HTTP. */
import { kibibyte, mebibyte, minute, second } from './unit.ts';

export const requestLimits = {
  /** JSON carries up to one inline document of the largest size, escaped, and its fields. */
  bodyBytesMax: 24 * mebibyte,
  /** The largest job has some nine for each of its documents. */
  jsonValuesMax: 1_500_000,
  /** Of what is parsed at once: one entry of a list, or everything but the lists. */
  jsonPartValuesMax: 100_000,
  jsonDepthMax: 64,
  /** Long lists are parsed in parts of about this size. */
  jsonPartBytes: 256 * kibibyte,
  jsonPartValues: 10_000,
  jsonScanBytes: 256 * kibibyte,
  /** A wrong value is looked at up to so many of its parts, to say what is wrong with it. */
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
  keepAliveMs: 5 * second,
  uploadsPerCallerMax: 4,
  connectionsMax: 4096,
  /** Those that have not made a whole request yet. */
  silentConnectionsMax: 1024,
  /** From this share of all on, connections that wait for nothing are closed. */
  idleConnectionsFactor: 0.9,
  /** A refused connection is closed so long after its answer, whatever the other side does. */
  lingerMs: 1 * second,
  /** Entities in one answer: these lists have no cursor. */
  entitiesMax: 10_000,
  /** Jobs that a list looks at for one page, where the status has to be worked out. */
  jobsScannedMax: 1000,
  /** How long, and of how many jobs, it is remembered where their items stand. */
  standingsAgeMsMax: 250,
  standingsRememberedMax: 1000,
  /** Places in the queue are counted up to this. */
  placesCountedMax: 10_000,
  pageItemsDefault: 50,
  pageItemsMax: 200,
} as const;
