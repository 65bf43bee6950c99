/** Time and randomness as the engine sees them. The simulator brings its own. */
export interface World {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  setTimer(run: () => void, delayMs: number): () => void;
  /** Calls back after everything that is ready in this turn has run. */
  afterTurn(run: () => void): void;
  /** At least 0, less than 1. */
  random(): number;
  uuid(): string;
  /** A test hook at a named moment (`observe/failpoint.ts`). */
  failpoint?(name: string): void;
}

/** Resolves after everything else that is ready has run. */
export function nextTurn(world: Pick<World, 'afterTurn'>): Promise<void> {
  return new Promise((resolve) => world.afterTurn(resolve));
}

/** Resolves after the delay, or immediately when the signal aborts. */
export function pause(world: World, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = world.setTimer(end, delayMs);
    signal?.addEventListener('abort', end, { once: true });
  });
}
