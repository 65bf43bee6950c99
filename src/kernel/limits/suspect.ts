/** Limits for items that may have killed the process that held them. */
import { hour, second } from './unit.ts';

export const suspectLimits = {
  suspect: {
    /** An item held by this many workers as they died is a suspect and runs alone. */
    crashesMin: 2,
    /** A suspect that was alone at this many deaths is blamed. */
    loneDeathsMax: 3,
    /** By its lone deaths: how long a worker must have been up before it takes the suspect. */
    uptimesMs: [0, 10 * second, 60 * second],
    /** How long a suspect is alone, first and at most: longer than any step may take. */
    aloneMsMin: 30 * second,
    aloneMsMax: 1 * hour,
    /** How long a worker claims nothing, to empty its slots for a suspect: first, at most. */
    drainMsMin: 5 * second,
    drainMsMax: 1 * hour,
  },
} as const;
