/**
 * Which item is to blame when processes die (docs/decisions/0064). An item that was held by several
 * processes as they died is a suspect. Suspects run alone. Only an item that was alone in flight at
 * several deaths in a row, without a committed step between them, is blamed.
 */
import { limits } from './limits/limits.ts';

export function isSuspect(crashes: number): boolean {
  return crashes >= limits.suspect.crashesMin;
}

/**
 * How long a suspect keeps its process to itself. Each death doubles it, so that what kills late is
 * alone at last, and a long step does not keep other items waiting the first time.
 */
export function aloneMs(crashes: number): number {
  const { aloneMsMin, aloneMsMax, crashesMin } = limits.suspect;
  return Math.min(aloneMsMin * 2 ** Math.max(crashes - crashesMin, 0), aloneMsMax);
}

/**
 * How long a process must have lived before it takes an item that was alone at so many deaths: it
 * shows first that it survives without the item.
 */
export function uptimeMsFor(loneDeaths: number): number {
  const { uptimesMs } = limits.suspect;
  return uptimesMs[Math.min(loneDeaths, uptimesMs.length - 1)] ?? 0;
}
