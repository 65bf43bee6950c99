// Runs before the npm scripts, on any Node version, with nothing installed yet: brings node_modules
// in line with package-lock.json, and is silent if it already is. With `--omit=dev`, development
// packages may be absent, and are not installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const onlyToRun = process.argv.includes('--omit=dev');

if (!isInstalled()) install();

/** npm writes node_modules/.package-lock.json as its last step. */
function isInstalled() {
  const node = process.platform === 'win32' ? 'node.exe' : 'node';
  if (!existsSync(`${root}node_modules/node/bin/${node}`)) return false;
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

function install() {
  const startedAt = performance.now();
  process.stderr.write('Installing dependencies... ');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  if (onlyToRun) args.push('--omit=dev');
  const npm = process.env.npm_execpath;
  const options = { cwd: root, encoding: 'utf8' };
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
