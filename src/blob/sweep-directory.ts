/**
 * Sweeps a folder of blobs. An unused blob is first renamed, then checked again: if it was stored
 * again in between it is younger, and is renamed back. A crash in between leaves the renamed file;
 * the next sweep restores it if it is used and removes it if not. So a used blob is never lost,
 * wherever the sweep is interrupted.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sweep } from './blob.ts';

export type FolderSweep = Pick<Sweep, 'before' | 'limit' | 'used'>;

const blob = /^[0-9a-f]{64}$/;
const swept = /^([0-9a-f]{64})\.swept$/;
const unfinished = /^[0-9a-f]{64}\..+\.part$/;

export async function sweepFolder(folder: string, sweep: FolderSweep): Promise<number> {
  const names = await namesIn(folder);
  await settleSwept(folder, names, sweep);
  for (const name of names.filter((each) => unfinished.test(each))) {
    const path = join(folder, name);
    if (await isOlder(path, sweep.before)) await rm(path, { force: true });
  }
  const keys = names.filter((name) => blob.test(name));
  let removed = 0;
  for (let start = 0; start < keys.length && removed < sweep.limit; start += sweep.limit) {
    removed += await sweepKeys(folder, keys.slice(start, start + sweep.limit), sweep);
  }
  return removed;
}

async function sweepKeys(
  folder: string,
  keys: readonly string[],
  sweep: FolderSweep,
): Promise<number> {
  const used = await sweep.used(keys);
  let removed = 0;
  for (const key of keys.filter((each) => !used.has(each))) {
    const path = join(folder, key);
    const isGone = (await isOlder(path, sweep.before)) && (await remove(path, sweep));
    if (isGone) removed += 1;
  }
  return removed;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Handles the leftovers of an interrupted sweep. */
async function settleSwept(
  folder: string,
  names: readonly string[],
  { used }: FolderSweep,
): Promise<void> {
  const keys = names.flatMap((name) => swept.exec(name)?.[1] ?? []);
  const kept = await used(keys);
  for (const key of keys) {
    const path = join(folder, key);
    if (kept.has(key)) await rename(`${path}.swept`, path);
    else await rm(`${path}.swept`, { force: true });
  }
}

/** A file that another sweep has just removed has no age. */
async function isOlder(path: string, before: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs < before;
}

async function remove(path: string, sweep: FolderSweep): Promise<boolean> {
  const aside = `${path}.swept`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const key = path.slice(-64);
  const isNeeded = !(await isOlder(aside, sweep.before)) || (await sweep.used([key])).has(key);
  if (isNeeded) await rename(aside, path);
  else await rm(aside, { force: true });
  return !isNeeded;
}
