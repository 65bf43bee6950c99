/** The bounds of messages between processes, and of what Redis holds for several of them. */
import { kibibyte, minute, second } from './unit.ts';

export const queueLimits = {
  /** A run is asked to end, and some time later its message is given to another. */
  softMs: 3500 * second,
  visibilityMs: 3600 * second,
  /** The message of a process that is dead is free after the first, and found by the last. */
  lockMs: 20 * second,
  renewMs: 5 * second,
  stalledMs: 5 * second,
  /** After a throw: the first wait at most, and the longest. */
  retryMs: 1 * second,
  retryMsMax: 5 * minute,
  /** A thread that ends is begun anew after a time that grows; one that never began is given up. */
  threadRetry: { baseMs: 100, factor: 2, capMs: 5 * second },
  threadStartsMax: 5,
  /** A consumer that is stopped waits so long for runs that do not heed it. */
  abandonMs: 5 * second,
  addBatchMax: 500,
  /** Nothing is added to a Redis that is fuller: who takes messages out needs some room, too. */
  memoryFactor: 0.9,
  memoryCheckMs: 1 * second,
  /** A consumer that Redis refuses rests for so long. */
  refusedMs: 1 * second,
  commandTimeoutMs: 5 * second,
  /** Messages that one process holds in memory. */
  embeddedMessagesMax: 100_000,
  /** How often it is asked whether a queue has lost what was in it. */
  fillCheckMs: 1 * second,
  /** A fill that has not ended by then is begun anew. */
  fillMs: 30 * second,
  /** All that is open is put on its queue again after this time, whatever is known. */
  refillMs: 60 * second,
  refillPageMax: 500,
  /** Questions of one process that are on their way to a queue at once. */
  putsWaitingMax: 10_000,
} as const;

export const hotViewLimits = {
  /** Kept for so long after the last write. */
  ttlMs: 1 * minute,
  /** One of a job that has not ended is looked after when it is older. */
  ageMsMax: 5 * second,
  /** A job that moves is written this often. */
  writeMs: 100,
  /** Jobs that are looked at in one go. */
  flushMax: 500,
  bodyCharactersMax: 256 * kibibyte,
  /** The shape of what is written; it rises when that changes. */
  form: 3,
} as const;
