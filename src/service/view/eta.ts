/** The estimated time until a job is done, at its current rate. */
export interface EtaInput {
  readonly open: number;
  /** Item ends so far. A retried item has ended more than once. */
  readonly ends: number;
  readonly workedMs: number;
  /** False while the job is paused or waiting, and after its end. */
  readonly isMoving: boolean;
}

/** Whole seconds; null if there is no estimate yet. */
export function etaSeconds({ open, ends, workedMs, isMoving }: EtaInput): number | null {
  if (!isMoving || ends === 0) return null;
  return Math.ceil(((workedMs / ends) * Math.max(open, 0)) / 1000);
}
