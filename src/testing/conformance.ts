/** What the conformance suites share. */
import { describe, type TestContext, test } from 'node:test';

/** Ends a test that hangs; no test measures time. */
const hangMs = 300_000;

/** Cleans up when a test ends: the context of `node:test`, or a part of it. */
export type Cleanup = Pick<TestContext, 'after'>;

export type Case<Given> = readonly [title: string, run: (given: Given) => Promise<void>];

/**
 * Runs every case on something that `make` has made for it alone. What must be closed is closed in
 * `t.after`.
 */
export function conformance<Given>(
  name: string,
  cases: readonly Case<Given>[],
  make: (t: Cleanup) => Promise<Given> | Given,
): void {
  describe(name, () => {
    for (const [title, run] of cases) {
      test(title, { timeout: hangMs }, async (t) => run(await make(t)));
    }
  });
}

export const endless = (): AbortSignal => new AbortController().signal;
