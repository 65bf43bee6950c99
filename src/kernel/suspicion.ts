/**
 * Decides which item is to blame when processes die (docs/decisions/0064). An item that was held by
 * several processes as they died is a suspect. Suspects run alone. An item is blamed only if it was
 * the only one in flight at several deaths in a row, without a committed step between them.
 */
import { limits } from './limits/limits.ts';

export function isSuspect(crashes: number): boolean {
  return crashes >= limits.suspect.crashesMin;
}

/**
 * How long a suspect has its process to itself. Each death doubles it, so that an item that kills
 * late is eventually alone when it does, and a long step does not block other items the first time.
 */
export function aloneMs(crashes: number): number {
  const { aloneMsMin, aloneMsMax, crashesMin } = limits.suspect;
  return Math.min(aloneMsMin * 2 ** Math.max(crashes - crashesMin, 0), aloneMsMax);
}

/**
 * How long a process must have been up before it takes an item that was alone at this many deaths.
 * This shows first that the process survives without the item.
 */
export function uptimeMsFor(loneDeaths: number): number {
  const { uptimesMs } = limits.suspect;
  return uptimesMs[Math.min(loneDeaths, uptimesMs.length - 1)] ?? 0;
}
