/** The bounds of work at outside providers. */
import { day, hour, kibibyte, mebibyte, minute, second } from './unit.ts';

export const batchLimits = {
  /** Work at an outside provider. */
  batch: {
    pollIntervalMs: 120 * second,
    taskAgeMsMax: 26 * hour,
    /** So many transient poll errors in a row fail the provider's job. */
    pollErrorsMax: 3,
    /** A job that was given up is ended at its provider within this time, or left to itself. */
    windDownMsMax: 7 * day,
    /** A job this young may be unknown to a provider that has just accepted it. */
    youngJobMs: 10 * minute,
    /** How often a process says which providers it serves, and how long that counts. */
    presenceMs: 15 * second,
    presenceMsMax: 60 * second,
    jobsPerTaskMax: 1000,
    requestsPerTaskMax: 50_000,
    /** Of one caller, and not counting what items have gathered. */
    openTasksMax: 10_000,
    /** Work of items is gathered for so long, or until there is so much of it. */
    gatherMs: 60 * second,
    gatherMax: 10_000,
    /** A line is sent twice at most: so long may the money for it be set aside. */
    reservationMsMax: 54 * hour,
    /** A recording that says nothing of its length has at least so many bytes in a second. */
    recordingBytesPerSecond: { video: 60_000, plain: 16_000, packed: 4_000 },
    /** So much earlier or later than its time may a task be asked about, as a share of it. */
    pollJitterFactor: 0.1,
    /** How often the clock is looked at for tasks that are due. */
    lookIntervalMs: 1 * second,
    /** Rows read from the store at once. */
    pageMax: 64,
    /** Tasks of one provider that are polled at once; jobs of a task, and answers read, too. */
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
    /** The longest silence within a result, and the longest time for all of one. */
    resultSilenceMs: 60 * second,
    resultMs: 6 * hour,
    /** The requests of one job, as one file. */
    requestBytesMax: 96 * mebibyte,
    answerBytesMax: 4 * mebibyte,
    /** One result that is not made of lines. */
    resultBytesMax: 256 * mebibyte,
    lineBytesMax: 8 * mebibyte,
    /** What a result may hold besides the answers: broken, foreign or repeated lines. */
    noiseBytesMax: 64 * mebibyte,
    /** Larger results stand in the blob store, and the task holds their key. */
    inlineResultBytesMax: 64 * kibibyte,
    /** Pages of a provider's list of jobs or files that are read. */
    listPagesMax: 200,
    errorCharactersMax: 500,
  },
} as const;
