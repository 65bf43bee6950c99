/** Installs what the tests need and npm cannot provide. */
import { spawnSync } from 'node:child_process';
import { downloadPgvectorServer } from './pgvector-server.ts';
import { findPostgres, whyNoPgvector } from './postgres.ts';
import { findExecutable } from './server.ts';

interface Tool {
  readonly name: string;
  /** The Debian package that contains it. */
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

/** Tests that need one of these are skipped without it, with the reason. */
function optionalTools(): readonly Tool[] {
  const [, version = ''] = /\/(\d+)\/bin\//.exec(findPostgres('initdb') ?? '') ?? [];
  return [
    {
      name: 'pgvector',
      package: `postgresql-${version}-pgvector`,
      isPresent: () => whyNoPgvector() === undefined,
    },
    {
      name: 'promtool',
      package: 'prometheus',
      isPresent: () => findExecutable('promtool') !== undefined,
    },
  ];
}

/**
 * Installs what is missing. If it cannot, it says so: the tests that need it fail, and those that
 * need an optional tool are skipped.
 */
export function prepareMachine(print: (line: string) => void): void {
  const absent = tools.filter((tool) => !tool.isPresent());
  if (absent.length > 0) install(absent, 'Tests that need it will fail.', print);
  // Debian 12 has no pgvector: a package that the lists do not have is not requested each time.
  const offered = optionalTools().filter((tool) => !tool.isPresent() && isOffered(tool.package));
  if (offered.length > 0) install(offered, 'Tests that need it are skipped.', print);
  if (whyNoPgvector() !== undefined) {
    const problem = downloadPgvectorServer();
    if (problem === undefined) print('Downloaded a Postgres that has pgvector.');
    else print(`No Postgres with pgvector: ${problem}\nTests that need it are skipped.`);
  }
}

function isOffered(name: string): boolean {
  return spawnSync('apt-cache', ['show', '--quiet', name]).status === 0;
}

function install(absent: readonly Tool[], without: string, print: (line: string) => void): void {
  const names = absent.map((tool) => tool.name).join(', ');
  const startedAt = performance.now();
  const problem = installPackages(absent.map((tool) => tool.package));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (problem === undefined) print(`Installed ${names} in ${seconds} s.`);
  else print(`${names} could not be installed: ${problem}\n${without}`);
}

/** The error, or undefined. */
export function installPackages(packages: readonly string[]): string | undefined {
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  const problem = refreshPackageLists() ?? runAptGet(install);
  return problem && `${problem}\nInstall ${packages.join(' ')} by hand.`;
}

export function refreshPackageLists(): string | undefined {
  return runAptGet(['update']);
}

function runAptGet(args: readonly string[]): string | undefined {
  if (findExecutable('apt-get') === undefined) return 'there is no apt-get here.';
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && findExecutable('sudo') === undefined) return 'neither root nor sudo.';
  const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', ...args];
  const [program = 'env', ...rest] = isRoot ? command : ['sudo', '-n', ...command];
  const result = spawnSync(program, rest, { encoding: 'utf8' });
  if (result.status === 0) return undefined;
  return `\`${[program, ...rest].join(' ')}\` failed.\n${result.stderr.trim()}`;
}
