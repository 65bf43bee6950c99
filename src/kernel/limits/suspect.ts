/** The bounds of what is done with items that may have killed the process that held them. */
import { hour, second } from './unit.ts';

export const suspectLimits = {
  suspect: {
    /** An item that so many workers held as they died is a suspect, and runs alone. */
    crashesMin: 2,
    /** A suspect that was alone at so many deaths is blamed. */
    loneDeathsMax: 3,
    /** By its lone deaths: how long a worker must have lived before it takes the suspect. */
    uptimesMs: [0, 10 * second, 60 * second],
    /** How long a suspect is alone at first, and at most: longer than any step may take. */
    aloneMsMin: 30 * second,
    aloneMsMax: 1 * hour,
    /** How long a worker claims nothing, to empty its places for a suspect: at first, at most. */
    drainMsMin: 5 * second,
    drainMsMax: 1 * hour,
  },
} as const;
