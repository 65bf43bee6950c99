import { setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  /** What is awaited, as it should read after "timed out waiting for". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/**
 * Asks again and again until the answer is truthy, and returns it. An error counts as "not yet",
 * and is named when time runs out. For tests of whole processes: within one, tests await events.
 */
export async function until<Answer>(
  condition: () => Answer | Promise<Answer>,
  { what, timeoutMs = 10_000, intervalMs = 10 }: UntilOptions,
): Promise<NonNullable<Answer>> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await condition();
      if (answer) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(intervalMs);
  } while (performance.now() < deadline);
  throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`, { cause });
}
