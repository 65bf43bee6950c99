/** The bounds of work whose time grows with the text. */
import { kibibyte, second } from './unit.ts';

export const textLimits = {
  /** Longer ones are worked on in threads, beside the event loop: some 20 ms here. */
  hereCharactersMax: 64 * kibibyte,
  /** The globs of a crawl in all, beyond which even a short page is read in a thread. */
  globCharactersHereMax: 2000,
  threadsMax: 2,
  /**
   * A text that took so much CPU time makes room for others: it goes on in one of so many slow
   * threads, or waits for one.
   */
  sliceCpuMs: 1 * second,
  slowThreadsMax: 2,
  /** CPU time, not time: on a busy machine a text does not become another. */
  cpuMsMax: 60 * second,
  /** How often the CPU time of a thread is looked at. */
  cpuLookMs: 250,
  threadHeapMib: 2048,
  /** Texts that wait for a thread: some for each item in flight, and those of requests. */
  waitingMax: 256,
  /** After so many characters were embedded here, others have their turn. */
  embeddedAtOnceCharacters: 64 * kibibyte,
} as const;
