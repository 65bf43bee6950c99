import type { Cleanup } from '../support/temporary.ts';

/** A system of others that suites run against. */
export interface Target {
  readonly name: string;
  readonly version: string;
  /** Installs it if needed, and starts it. */
  start(t: Cleanup): Promise<Started>;
}

export interface Started {
  /** How the suites find it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The test files, and what they are about. */
  readonly suites: readonly Suite[];
}

export interface Suite {
  readonly name: string;
  /** The test file that the suite consists of, or a check of another program. */
  readonly run: string | (() => Promise<Outcome>);
  readonly note?: string;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly detail?: string;
}
