/** Limits for messages between processes, and for shared values in Redis. */
import { kibibyte, minute, second } from './unit.ts';

export const queueLimits = {
  /** A run is asked to stop after the first; its message is redelivered after the second. */
  softMs: 3500 * second,
  visibilityMs: 3600 * second,
  /** The message of a dead process is free after the first, and found by the last. */
  lockMs: 20 * second,
  renewMs: 5 * second,
  stalledMs: 5 * second,
  /** Delay after an exception: the maximum of the first delay, and the longest. */
  retryMs: 1 * second,
  retryMsMax: 5 * minute,
  /** An exited thread is restarted with growing delay; one that never started is not. */
  threadRetry: { baseMs: 100, factor: 2, capMs: 5 * second },
  threadStartsMax: 5,
  /** How long a stopping consumer waits for runs that ignore the abort. */
  abandonMs: 5 * second,
  addBatchMax: 500,
  /** Nothing is added to a Redis that is fuller: consumers need memory to remove messages. */
  memoryFactor: 0.9,
  memoryCheckMs: 1 * second,
  /** Pause of a consumer after Redis refused a command. */
  refusedMs: 1 * second,
  commandTimeoutMs: 5 * second,
  /** Messages that one process holds in memory. */
  embeddedMessagesMax: 100_000,
  /** How often to check whether a queue has lost its messages. */
  fillCheckMs: 1 * second,
  /** A refill that has not ended by then starts again. */
  fillMs: 30 * second,
  /** All open requests are queued again after this time, even if no loss is known. */
  refillMs: 60 * second,
  refillPageMax: 500,
  /** Requests that one process is adding to a queue concurrently. */
  putsWaitingMax: 10_000,
} as const;

export const hotViewLimits = {
  /** Lifetime after the last write. */
  ttlMs: 1 * minute,
  /** Older views of unfinished jobs are refreshed. */
  ageMsMax: 5 * second,
  /** Minimum interval between writes for a job that moves. */
  writeMs: 100,
  /** Jobs checked per flush. */
  flushMax: 500,
  bodyCharactersMax: 256 * kibibyte,
  /** The format version of the written value; increment it when the format changes. */
  form: 3,
} as const;
