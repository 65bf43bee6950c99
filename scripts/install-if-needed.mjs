// Runs before the npm scripts, on any Node, with nothing installed yet: installs what
// package-lock.json names, and Node 24 where this one is older. Prints nothing when all of it is
// there. With `--omit=dev`, packages that only developers need are not installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { isNodeNewEnough, pinnedNode, pinnedNodeFolder } from './pinned-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const onlyToRun = process.argv.includes('--omit=dev');

if (!isInstalled()) install('dependencies', root, onlyToRun ? ['--omit=dev'] : []);
if (!isNodeNewEnough() && !existsSync(pinnedNode)) install('Node 24', pinnedNodeFolder, []);

/** npm writes node_modules/.package-lock.json as its last step. */
function isInstalled() {
  const wanted = readPackages(`${root}package-lock.json`);
  const present = readPackages(`${root}node_modules/.package-lock.json`);
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || (onlyToRun && (entry.dev || entry.devOptional))) return true;
    const found = present[path];
    // A missing optional package belongs to another platform.
    return found === undefined ? entry.optional === true : found.version === entry.version;
  });
}

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

function install(what, folder, flags) {
  const startedAt = performance.now();
  process.stderr.write(`Installing ${what}... `);
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...flags];
  const npm = process.env.npm_execpath;
  const options = { cwd: folder, encoding: 'utf8' };
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (result.status !== 0) {
    const reason = result.error?.message ?? `${result.stdout}${result.stderr}`;
    process.stderr.write(`failed.\n${reason}\n\`npm ci\` did not succeed; nothing was started.\n`);
    process.exit(1);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`done in ${seconds} s.\n`);
}
