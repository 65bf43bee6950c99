/** Limits for requests between services in different processes. */
import { hour, mebibyte, minute, second } from './unit.ts';

export const handoffLimits = {
  /** Requests of steps to services in other processes, and their responses. */
  handoff: {
    /** Maximum time of a worker on one request, including redeliveries and the response. */
    softMs: 3500 * second,
    beatMs: 10 * second,
    /** A worker without a heartbeat for this long is dead, and another gets the request. */
    silentMsMax: 90 * second,
    /** How often a process checks for responses that other processes received. */
    lookMs: 250,
    /** If no worker has begun by then, the request is queued once more. */
    requeueMs: 5 * second,
    /** If no worker begins for this long, the step gives its slot to others for a while. */
    unbegunMsMax: 60 * second,
    parkedMs: 15 * second,
    /** If no worker has begun for this long, the stage is reported as down. */
    unheardMs: 10 * second,
    /** An unreachable service is tried again after this. */
    awayMs: 3 * second,
    /** The longest rate-limit wait that a worker waits for itself. */
    waitMsMax: 60 * second,
    /**
     * How often, and after what time, a request returns for another worker if this one lacks the
     * settings.
     */
    declinesMax: 30,
    declinedMs: 1 * second,
    /** Bytes sent inline with a request or response; more go through the blob store. */
    bytesMax: 16 * mebibyte,
    /** A response as JSON: these bytes, plus the longest text, escaped. */
    bodyBytesMax: 64 * mebibyte,
    /** A response kept in Redis until the orchestrator has read it, and for how long. */
    keptCharactersMax: 12 * mebibyte,
    keptMs: 2 * second,
    /** All such responses that one process keeps in memory. */
    memoryCharactersMax: 64 * mebibyte,
    /** Obsolete requests are removed after this. */
    ageMsMax: 2 * hour,
    /** Jobs whose keys the orchestrator remembers. */
    jobKeysMax: 1000,
    /** Requests and callbacks that share a commit, and callbacks that share an HTTP request. */
    commitBatchMax: 256,
    callBatchMax: 64,
    /** A callback that makes a batch longer than this waits for the next one. */
    callBatchCharactersMax: 4 * mebibyte,
    /** Concurrent HTTP requests with callbacks of one worker process. */
    callRequestsMax: 2,
    /** Timeout of a callback, and the delay before the next try. */
    callMs: 30 * second,
    callRetry: { baseMs: 200, factor: 2, capMs: 10 * second },
    messageCharactersMax: 2000,
    /** Maximum clock difference of a signature. */
    clockMsMax: 5 * minute,
    /** Concurrent documents of one worker process. */
    placesScrape: 16,
    placesEmbed: 8,
  },
} as const;
