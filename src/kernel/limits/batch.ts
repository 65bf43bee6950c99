/** Limits for work at external providers. */
import { day, hour, kibibyte, mebibyte, minute, second } from './unit.ts';

export const batchLimits = {
  batch: {
    pollIntervalMs: 120 * second,
    taskAgeMsMax: 26 * hour,
    /** This many consecutive transient poll errors fail the provider's job. */
    pollErrorsMax: 3,
    /** An abandoned job is ended at its provider within this time, or left alone. */
    windDownMsMax: 7 * day,
    /** A provider may not yet know a job that is younger than this. */
    youngJobMs: 10 * minute,
    /** How often a process announces the providers it serves, and how long that stays valid. */
    presenceMs: 15 * second,
    presenceMsMax: 60 * second,
    jobsPerTaskMax: 1000,
    requestsPerTaskMax: 50_000,
    /** Per caller, not counting work gathered from items. */
    openTasksMax: 10_000,
    /** Work of items is gathered for this long, or up to this amount. */
    gatherMs: 60 * second,
    gatherMax: 10_000,
    /** A line is sent at most twice: money for it is reserved at most this long. */
    reservationMsMax: 54 * hour,
    /** Lower bound for a recording without a stated length, to estimate its duration. */
    recordingBytesPerSecond: { video: 60_000, plain: 16_000, packed: 4_000 },
    /** Random deviation of a poll from its time, as a share of the interval. */
    pollJitterFactor: 0.1,
    /** How often the reconciler checks for tasks that are due. */
    lookIntervalMs: 1 * second,
    /** Rows read from the store per page. */
    pageMax: 64,
    /** Tasks of one provider polled concurrently; also jobs of a task, and results read. */
    concurrencyMax: 16,
    /** Tasks of one provider that are submitted, or wound down, at once. */
    submitConcurrencyMax: 4,
    /** A hold is renewed while its process works on the task, and lost when it is not. */
    holdMs: 3 * minute,
    holdRenewalsPerHold: 4,
    /** A submitter with less than this share of its hold left begins no call. */
    holdReserveFactor: 2 / 3,
    /** So often is a submission tried that the provider could not take at the time. */
    submitAttemptsMax: 7,
    callMs: 60 * second,
    /** The longest silence within a result, and the time limit for a whole result. */
    resultSilenceMs: 60 * second,
    resultMs: 6 * hour,
    /** The requests of one job, as one file. */
    requestBytesMax: 96 * mebibyte,
    answerBytesMax: 4 * mebibyte,
    /** One result that does not consist of lines. */
    resultBytesMax: 256 * mebibyte,
    lineBytesMax: 8 * mebibyte,
    /** What a result may contain besides responses: broken, foreign or repeated lines. */
    noiseBytesMax: 64 * mebibyte,
    /** Larger results go to the blob store, and the task holds their key. */
    inlineResultBytesMax: 64 * kibibyte,
    /** Pages read from a provider's list of jobs or files. */
    listPagesMax: 200,
    errorCharactersMax: 500,
  },
} as const;
