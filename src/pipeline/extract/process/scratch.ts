/**
 * The folders of parsers, among the temporary files. Each is removed with its process. If Pawl was
 * killed, its folders remain, and the next Pawl on this machine removes them: the name identifies
 * the owner.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../kernel/limits/limits.ts';

/** A process whose state other processes of the same machine can check. */
export interface Owner {
  /** Pids are unique only within one host. */
  readonly host: string;
  readonly pid: number;
  readonly processStarted: string;
  isAlive(pid: number, processStarted: string): boolean;
}

const prefix = 'pawl-parser-';

export async function makeScratch(owner: Owner): Promise<string> {
  const { pid, processStarted } = owner;
  const name = `${prefix}${markOf(owner)}-${pid}-${processStarted}-`;
  // Node's permissions apply to real paths.
  return realpath(await mkdtemp(join(tmpdir(), name)));
}

/** Removes the folders of dead owners; those of other machines stay. */
export async function removeLeftovers(owner: Owner): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => isLeftover(name, owner));
  for (const name of names.slice(0, limits.parser.leftoversMax)) {
    const path = join(tmpdir(), name);
    // A folder that cannot be removed does not prevent parsing: it is tried again at the next
    // start.
    const options = { recursive: true, force: true, maxRetries: 3 };
    if (await isOwn(path)) await rm(path, options).catch(() => undefined);
  }
}

function isLeftover(name: string, owner: Owner): boolean {
  const [, mark, pid, started] = /^pawl-parser-([0-9a-f]+)-(\d+)-(\d*)-\w+$/.exec(name) ?? [];
  return mark === markOf(owner) && !owner.isAlive(Number(pid), started ?? '');
}

/** A short hash of machine, boot and process namespace: several may share one temporary folder. */
function markOf({ host }: Owner): string {
  return createHash('sha256').update(host).digest('hex').slice(0, 12);
}

/** Any user may create something under such a name. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined); // Another has just removed it.
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
}
