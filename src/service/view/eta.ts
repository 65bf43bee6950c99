/** When a job will be done, if it goes on as it has gone so far. */
export interface EtaInput {
  readonly open: number;
  /** Ends of items so far. An item that was retried has ended more than once. */
  readonly ends: number;
  readonly workedMs: number;
  /** Not while it is paused, waits, or has ended. */
  readonly isMoving: boolean;
}

/** Whole seconds; null where nothing can be said yet. */
export function etaSeconds({ open, ends, workedMs, isMoving }: EtaInput): number | null {
  if (!isMoving || ends === 0) return null;
  return Math.ceil(((workedMs / ends) * Math.max(open, 0)) / 1000);
}
