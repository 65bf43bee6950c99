/**
 * Documentation from Debian packages. They are downloaded and unpacked into a cache folder, not
 * installed: images without documentation exclude /usr/share/doc from installations.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installPackages, refreshPackageLists } from '../../test/support/machine.ts';
import { findExecutable } from '../../test/support/server.ts';

const timeoutMs = 600_000;

export function cacheFolder(name: string): string {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'pawl-bench', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

export type Unpacked = { readonly root: string } | { readonly problem: string };

/** The folder with the files of a package, as they would be below `/`. */
export function unpack(name: string): Unpacked {
  const root = join(cacheFolder('debian'), name);
  if (existsSync(root)) return { root };
  const problem = download(name, `${root}.part`);
  if (problem !== undefined) return { problem: `${name} could not be downloaded: ${problem}` };
  renameSync(`${root}.part`, root);
  return { root };
}

function download(name: string, folder: string): string | undefined {
  if (findExecutable('apt-get') === undefined) return 'there is no apt-get here';
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const get = () => run('apt-get', ['-q', 'download', name], folder);
  const problem = get();
  const again = problem === undefined ? undefined : (refreshPackageLists() ?? get());
  if (again !== undefined) return again;
  for (const file of globSync('*.deb', { cwd: folder })) {
    const broken = run('dpkg-deb', ['-x', file, '.'], folder);
    if (broken !== undefined) return broken;
    rmSync(join(folder, file));
  }
  return undefined;
}

/** A program that a peer needs, installed if it is absent; returns why it cannot be. */
export function needProgram(program: string, debianPackage: string): string | undefined {
  if (findExecutable(program) !== undefined) return undefined;
  return installPackages([debianPackage]);
}

/** The error, in one line. */
export function run(program: string, args: readonly string[], cwd: string): string | undefined {
  const result = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: timeoutMs });
  if (result.status === 0) return undefined;
  const reason = result.error?.message ?? result.stderr.trim().split('\n').at(-1);
  return `\`${program} ${args.join(' ')}\` failed: ${reason}`;
}
