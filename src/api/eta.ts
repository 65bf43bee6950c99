/** When a job will be done, if it goes on as it has gone so far. */
export interface EtaInput {
  readonly total: number;
  readonly processed: number;
  readonly startedAt: number | null;
  /** Not while it is paused, waits, or has ended. */
  readonly isMoving: boolean;
  readonly now: number;
}

/** Whole seconds; null where nothing can be said yet. */
export function etaSeconds(input: EtaInput): number | null {
  const { total, processed, startedAt, isMoving, now } = input;
  if (!isMoving || startedAt === null || processed === 0) return null;
  const perItemMs = Math.max(now - startedAt, 0) / processed;
  return Math.ceil((perItemMs * Math.max(total - processed, 0)) / 1000);
}
