/** Brings onto the machine what the tests need and npm cannot give. */
import { spawnSync } from 'node:child_process';
import { findPostgres } from './postgres.ts';
import { findExecutable } from './server.ts';

interface Tool {
  readonly name: string;
  /** The Debian package that holds it. */
  readonly package: string;
  isPresent(): boolean;
}

const tools: readonly Tool[] = [
  {
    name: 'Postgres',
    package: 'postgresql',
    isPresent: () => findPostgres('initdb') !== undefined && findPostgres('postgres') !== undefined,
  },
  {
    name: 'Redis',
    package: 'redis-server',
    isPresent: () => findExecutable('redis-server') !== undefined,
  },
  { name: 'nginx', package: 'nginx', isPresent: () => findExecutable('nginx') !== undefined },
  { name: 'strace', package: 'strace', isPresent: () => findExecutable('strace') !== undefined },
  {
    name: 'Chromium',
    package: 'chromium',
    isPresent: () => ['chromium', 'google-chrome'].some((name) => findExecutable(name)),
  },
];

/** Installs what is absent. Where it cannot, it says so, and the tests that need it fail. */
export function prepareMachine(print: (line: string) => void): void {
  const absent = tools.filter((tool) => !tool.isPresent());
  if (absent.length === 0) return;
  const names = absent.map((tool) => tool.name).join(', ');
  const startedAt = performance.now();
  const problem = installPackages(absent.map((tool) => tool.package));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (problem === undefined) print(`Installed ${names} in ${seconds} s.`);
  else print(`${names} could not be installed: ${problem}\nTests that need it will fail.`);
}

function installPackages(packages: readonly string[]): string | undefined {
  const byHand = `install ${packages.join(' ')} by hand.`;
  if (findExecutable('apt-get') === undefined) return `there is no apt-get here; ${byHand}`;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && findExecutable('sudo') === undefined) return `neither root nor sudo; ${byHand}`;
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
    const [program = 'env', ...rest] = isRoot ? command : ['sudo', '-n', ...command];
    const result = spawnSync(program, rest, { encoding: 'utf8' });
    if (result.status !== 0) {
      return `\`${[program, ...rest].join(' ')}\` failed; ${byHand}\n${result.stderr.trim()}`;
    }
  }
  return undefined;
}
