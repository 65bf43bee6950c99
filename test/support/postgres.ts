import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { pgvectorServerFolder } from './pgvector-server.ts';
import {
  findExecutable,
  type Identity,
  startServer,
  unprivilegedIdentity,
  withFreePort,
} from './server.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';

export interface PostgresOptions {
  /** False disables fsync for speed. A test that kills the server must not. */
  readonly durable?: boolean;
  readonly settings?: Readonly<Record<string, string | number>>;
  /** A server that has pgvector, if one can be started here. */
  readonly pgvector?: boolean;
}

export interface Postgres {
  readonly url: string;
  readonly port: number;
  /** The postmaster's process id; it changes after a restart. */
  readonly pid: number;
  /** A fresh, empty database, in the server's locale unless another is named; returns its URL. */
  createDatabase(name?: string, locale?: string): Promise<string>;
  /** `immediate` skips the checkpoint, so that the next start recovers from the log. */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

const role = 'pawl';
const execute = promisify(execFile);

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const directory = makeDirectory();
  const identity = unprivilegedIdentity();
  if (identity) chownSync(directory, identity.uid, identity.gid);
  try {
    const programs = foldersFor(options);
    await initializeCluster(directory, identity, programs);
    const start = (port: number) => startOn(port, directory, identity, options, programs);
    return await withFreePort(start);
  } catch (error) {
    removeDirectory(directory);
    throw error;
  }
}

/** Whether a Postgres server can be started on this machine. */
export function findPostgres(executable: 'initdb' | 'postgres'): string | undefined {
  return findExecutable(executable, executableFolders());
}

/** Undefined if a Postgres that has the extension can be started; else why tests are skipped. */
export function whyNoPgvector(): string | undefined {
  return foldersWithPgvector() ? undefined : 'no Postgres on this machine has pgvector';
}

/** Whether the Postgres of all other tests has it. */
export function hasPgvector(folders: readonly string[] = executableFolders()): boolean {
  const config = findExecutable('pg_config', folders);
  if (config === undefined) return false;
  const shared = execFileSync(config, ['--sharedir'], { encoding: 'utf8' }).trim();
  return existsSync(join(shared, 'extension', 'vector.control'));
}

function foldersWithPgvector(): readonly string[] | undefined {
  if (hasPgvector()) return executableFolders();
  return existsSync(pgvectorServerFolder) ? [pgvectorServerFolder] : undefined;
}

function foldersFor({ pgvector = false }: PostgresOptions): readonly string[] {
  return (pgvector ? foldersWithPgvector() : undefined) ?? executableFolders();
}

async function startOn(
  port: number,
  directory: string,
  identity: Identity | undefined,
  options: PostgresOptions,
  programs: readonly string[],
): Promise<Postgres> {
  const urlOf = (database: string) => `postgres://${role}@127.0.0.1:${port}/${database}`;
  const url = urlOf('postgres');
  const start = () =>
    startServer({
      name: 'Postgres',
      executable: required('postgres', programs),
      args: ['-D', join(directory, 'cluster'), ...settingArgs(port, directory, options)],
      directory,
      ...(identity && { identity }),
      ready: () => queryOnce(url, 'SELECT 1').then(() => true),
    });
  let server = await start();
  return {
    url,
    port,
    get pid() {
      return server.pid;
    },
    async createDatabase(name = `test_${randomUUID().replaceAll('-', '')}`, locale) {
      const own = locale ? ` TEMPLATE template0 LOCALE ${pg.escapeLiteral(locale)}` : '';
      await queryOnce(url, `CREATE DATABASE ${pg.escapeIdentifier(name)}${own}`);
      return urlOf(name);
    },
    async restart(mode = 'fast') {
      await server.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      server = await start();
    },
    async stop() {
      await server.stop('SIGINT');
      removeDirectory(directory);
    },
  };
}

async function initializeCluster(
  directory: string,
  identity: Identity | undefined,
  programs: readonly string[],
) {
  const locale = process.platform === 'linux' ? 'C.UTF-8' : 'C';
  const args = ['-D', join(directory, 'cluster'), '-U', role, '-A', 'trust', '-E', 'UTF8'];
  await execute(required('initdb', programs), [...args, `--locale=${locale}`, '--no-sync'], {
    cwd: directory,
    ...identity,
  });
}

function settingArgs(port: number, directory: string, options: PostgresOptions): string[] {
  const { durable = true } = options;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: directory,
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    shared_buffers: '32MB',
    max_connections: 100,
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function required(executable: 'initdb' | 'postgres', programs: readonly string[]): string {
  const file = findExecutable(executable, programs);
  if (file) return file;
  throw new Error(
    `${executable} was not found. Install a Postgres server (Debian: apt-get install postgresql, ` +
      'macOS: brew install postgresql) or put its bin folder on the PATH.',
  );
}

/** Debian keeps the server's executables off the PATH, in one folder per version. */
function executableFolders(): string[] {
  const versions = '/usr/lib/postgresql';
  const byNewest = (a: string, b: string) => Number(b) - Number(a);
  try {
    const folders = readdirSync(versions).sort(byNewest);
    return folders.map((version) => join(versions, version, 'bin'));
  } catch {
    const config = findExecutable('pg_config');
    if (config === undefined) return [];
    return [execFileSync(config, ['--bindir'], { encoding: 'utf8' }).trim()];
  }
}

async function queryOnce(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => {});
  }
}
