/** How much of a document was read: its kept share, from 0 to 1. */

/**
 * A document whose kept share is below this was read in part and needs a check. An index of the
 * store repeats the number: a change needs a migration.
 */
export const partlyReadBelow = 0.8;

/** Null: read before Pawl measured it. Such a document counts as fully read. */
export function isPartlyRead(keptShare: number | null): boolean {
  return keptShare !== null && keptShare < partlyReadBelow;
}

/** Rounded down, so that a partly read document never shows the threshold itself. */
export function keptPercent(keptShare: number): number {
  return Math.floor(Math.round(1000 * keptShare) / 10);
}
