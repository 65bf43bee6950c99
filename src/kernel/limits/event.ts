/** Limits for the event log and its streams. */
import { hour, second } from './unit.ts';

export const eventLimits = {
  pageMax: 1000,
  retentionDays: 30,
  /** Events of a job that one command prints. */
  shownMax: 1_000_000,
  streamCommentMs: 15 * second,
  streamsMax: 4000,
  streamsPerCallerMax: 1000,
  /** Events read per page while a stream catches up. */
  streamPageMax: 100,
  /** Reconnect delay sent to a stream client. */
  streamRetryMs: 1 * second,
  streamAgeMsMax: 1 * hour,
  /** Minimum interval between status queries for the streams of a job. */
  statusLookMs: 250,
  /** Status queries use at most one part in this many of the time, also for large jobs. */
  statusLookShare: 10,
  /** Jobs whose caller is cached, to avoid a query per event. */
  jobsRememberedMax: 10_000,
} as const;
