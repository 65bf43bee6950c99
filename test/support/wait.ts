import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { patience } from './patience.ts';

export interface UntilOptions {
  /** What is awaited, as it should read after "timed out waiting for". */
  readonly what: string;
  /** For waits longer than one event, such as a whole job; never shorter. */
  readonly patienceMs?: number;
  readonly intervalMs?: number;
}

/**
 * Polls until the result is truthy, and returns it. An error counts as "not yet", and is named when
 * time runs out. For tests of whole processes: within one process, tests await events.
 */
export async function until<Answer>(
  condition: () => Answer | Promise<Answer>,
  { what, patienceMs = patience.eventMs, intervalMs = 10 }: UntilOptions,
): Promise<NonNullable<Answer>> {
  const deadline = performance.now() + patienceMs;
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
  throw new Error(`timed out after ${patienceMs} ms waiting for ${what}`, { cause });
}

/**
 * Polls until the result equals the expected value. A page shows other values before it: those of
 * the page that was left, or of data that is still loading.
 */
export async function untilEqual<Value>(
  read: () => Promise<Value>,
  expected: Value,
): Promise<void> {
  const isEqual = async (): Promise<true> => {
    assert.deepEqual(await read(), expected);
    return true;
  };
  await until(isEqual, { what: inspect(expected) });
}
