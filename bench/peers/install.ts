/** Installs the peers when a benchmark first needs them. Pawl itself depends on none of them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(new URL('.', import.meta.url));

/** The peers that cannot be measured, with the reason, by package. */
export function installPeers(directory = own): ReadonlyMap<string, string> {
  const wanted = Object.entries(peerVersions(directory));
  const absent = (): [string, string][] =>
    wanted.filter(([name, version]) => installedVersion(directory, name) !== version);
  if (absent().length === 0) return new Map();
  const reason = runNpm(directory);
  return new Map(
    absent().map(([name, version]) => [
      name,
      `${name} ${version} could not be installed: ${reason}`,
    ]),
  );
}

function runNpm(directory: string): string {
  const args = ['install', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const options = { cwd: directory, encoding: 'utf8', timeout: 600_000 } as const;
  process.stderr.write('Installing the peers to measure against...\n');
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  const lines = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim().split('\n');
  return result.error?.message ?? lines.find((line) => line.includes('error')) ?? 'no reason given';
}

/** The measured versions, by package, as `package.json` pins them. */
export function peerVersions(directory = own): Readonly<Record<string, string>> {
  return dependenciesOf(`${directory}package.json`);
}

function dependenciesOf(file: string): Record<string, string> {
  return JSON.parse(readFileSync(file, 'utf8')).dependencies;
}

function installedVersion(directory: string, name: string): string | undefined {
  const file = `${directory}node_modules/${name}/package.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}
