/** The data folder of a store: created if it is missing, and refused if it cannot be used. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../kernel/failure/failure.ts';

/**
 * Creates the folder, one level at a time. A recursive `mkdir` of Node never returns for a path
 * below a file system that refuses new folders, such as /proc.
 */
export function makeStoreFolder(folder: string): void {
  try {
    makeLevels(folder);
    if (!statSync(folder).isDirectory()) throw refusal(folder, 'is not a folder');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const what = existsSync(folder) ? 'is not writable' : 'cannot be created';
    throw refusal(folder, `${what} (${code})`, error);
  }
}

function makeLevels(folder: string): void {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeLevels(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function refusal(folder: string, what: string, cause?: unknown): Failure {
  const advice = 'Name a folder that this user may write to with --data or PAWL_DATA.';
  return new Failure('store_read_only', `the data folder ${folder} ${what}`, {
    cause,
    context: { advice },
  });
}
