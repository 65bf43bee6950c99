/** Limits for work whose time grows with the text. */
import { kibibyte, second } from './unit.ts';

export const textLimits = {
  /** Longer texts run in threads, off the event loop: about 20 ms here. */
  hereCharactersMax: 64 * kibibyte,
  /** Above this total length of a crawl's globs, even a short page is read in a thread. */
  globCharactersHereMax: 2000,
  threadsMax: 2,
  /**
   * A text that used this much CPU time makes room for others: it continues in one of this many
   * slow threads, or waits for one.
   */
  sliceCpuMs: 1 * second,
  slowThreadsMax: 2,
  /** CPU time, not wall-clock time, so that a busy machine does not change the result. */
  cpuMsMax: 60 * second,
  /** How often the CPU time of a thread is checked. */
  cpuLookMs: 250,
  threadHeapMib: 2048,
  /** Texts that wait for a thread: some for each item in flight, and those of requests. */
  waitingMax: 256,
  /** After this many characters embedded in this process, the event loop gets a turn. */
  embeddedAtOnceCharacters: 64 * kibibyte,
} as const;
