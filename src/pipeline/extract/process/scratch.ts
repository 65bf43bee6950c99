/**
 * The folders of parsers, among the temporary files. Each is removed with its process; one whose
 * Pawl was killed is left behind, and the next Pawl on this machine removes it: its name says whose
 * it was.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../kernel/limits/limits.ts';

/** A process that others on the same machine can see to be alive or dead. */
export interface Owner {
  /** Pids mean something only within one. */
  readonly host: string;
  readonly pid: number;
  readonly processStarted: string;
  isAlive(pid: number, processStarted: string): boolean;
}

const prefix = 'pawl-parser-';

export async function makeScratch(owner: Owner): Promise<string> {
  const { pid, processStarted } = owner;
  const name = `${prefix}${markOf(owner)}-${pid}-${processStarted}-`;
  // Node's permissions speak of real paths.
  return realpath(await mkdtemp(join(tmpdir(), name)));
}

/** Removes the folders of owners that are dead; those of other machines are left alone. */
export async function removeLeftovers(owner: Owner): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => isLeftover(name, owner));
  for (const name of names.slice(0, limits.parser.leftoversMax)) {
    const path = join(tmpdir(), name);
    // One that cannot be removed keeps nobody from parsing: it is tried again at the next start.
    const options = { recursive: true, force: true, maxRetries: 3 };
    if (await isOwn(path)) await rm(path, options).catch(() => undefined);
  }
}

function isLeftover(name: string, owner: Owner): boolean {
  const [, mark, pid, started] = /^pawl-parser-([0-9a-f]+)-(\d+)-(\d*)-\w+$/.exec(name) ?? [];
  return mark === markOf(owner) && !owner.isAlive(Number(pid), started ?? '');
}

/** Machine, boot and process namespace in few letters: several may have one temporary folder. */
function markOf({ host }: Owner): string {
  return createHash('sha256').update(host).digest('hex').slice(0, 12);
}

/** Anybody may put something there under such a name. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined); // Another has just removed it.
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
}
