/** The bounds of what services in different processes ask of each other. */
import { hour, mebibyte, minute, second } from './unit.ts';

export const handoffLimits = {
  /** Questions that steps ask of services in other processes, and how those answer. */
  handoff: {
    /** A worker is at it for no longer, redeliveries and the way back included. */
    softMs: 3500 * second,
    beatMs: 10 * second,
    /** A worker that is not heard of for so long has died, and another is asked. */
    silentMsMax: 90 * second,
    /** How often a process looks for answers that others have taken in. */
    lookMs: 250,
    /** Unless somebody has begun by then, the question is put on its queue once more. */
    requeueMs: 5 * second,
    /** If nobody begins for so long, the step gives its place to others for a while. */
    unbegunMsMax: 60 * second,
    parkedMs: 15 * second,
    /** Where nobody has begun for so long, people are told that nobody is there. */
    unheardMs: 10 * second,
    /** A service that cannot be reached is tried again after this. */
    awayMs: 3 * second,
    /** A worker waits for so long itself where it is asked to come back later. */
    waitMsMax: 60 * second,
    /** What a worker lacks the settings for goes back for another, so often and after this time. */
    declinesMax: 30,
    declinedMs: 1 * second,
    /** Bytes that travel with a question or an answer; more go by the blob store. */
    bytesMax: 16 * mebibyte,
    /** An answer as JSON: such bytes, and beside them the longest text, escaped. */
    bodyBytesMax: 64 * mebibyte,
    /** An answer that is kept in Redis until the orchestrator has it, and the time for that. */
    keptCharactersMax: 12 * mebibyte,
    keptMs: 2 * second,
    /** All of those that one process keeps in its memory. */
    memoryCharactersMax: 64 * mebibyte,
    /** Questions that nobody can want any more are removed after this. */
    ageMsMax: 2 * hour,
    /** A callback that is not answered, and how long until the next. */
    callMs: 30 * second,
    callRetry: { baseMs: 200, factor: 2, capMs: 10 * second },
    messageCharactersMax: 2000,
    /** How far a signature's time may be off. */
    clockMsMax: 5 * minute,
    /** Documents that one worker process is at, at once. */
    placesScrape: 16,
    placesEmbed: 8,
  },
} as const;
