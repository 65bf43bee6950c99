import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of node:test's context that the fixtures need. */
export interface Cleanup {
  after(release: () => void | Promise<void>): void;
}

/** A fresh directory that is removed after the test. */
export function temporaryDirectory(t: Cleanup): string {
  const directory = makeDirectory();
  t.after(() => removeDirectory(directory));
  return directory;
}

export function makeDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'pawl-test-'));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}
