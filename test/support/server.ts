/**
 * A real server in a temporary directory on a free port of 127.0.0.1. It never outlives the test
 * process: it is killed when the process exits and, if the system supports it (setpriv on Linux),
 * also when the process is killed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { hangSignal, patience } from './patience.ts';
import { isAlive } from './process-state.ts';
import { until } from './wait.ts';

export interface ServerCommand {
  readonly name: string;
  readonly executable: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly identity?: Identity;
  /** Resolves with true once the server serves; throws or resolves with false before. */
  ready(): Promise<boolean>;
}

/** The operating system's user that a process runs as. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

export interface Server {
  readonly pid: number;
  stop(signal: NodeJS.Signals): Promise<void>;
}

const outputBytesMax = 16_384;

export async function startServer(command: ServerCommand): Promise<Server> {
  const [executable, ...args] = underParent(command.executable, command.args);
  const child = spawn(executable, args, {
    cwd: command.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...command.identity,
  });
  const output = collectOutput(child);
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  child.once('exit', () => process.off('exit', killNow));

  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  child.once('close', (code, signal) => {
    failure ??= new Error(`${command.name} ended (${code ?? signal}): ${output()}`);
  });
  await until(() => failure !== undefined || command.ready(), {
    what: `${command.name} to accept connections`,
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  if (failure) throw failure;
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command.name} has no process id`);
  return { pid, stop: (signal) => stopServer(command.name, child, signal) };
}

/**
 * Another process may take the port between the check and the start; then another port is tried.
 * A server that is restarted finds its port free.
 */
export async function withFreePort<Result>(
  start: (port: number) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await lastingPort());
    } catch (error) {
      const isTaken = /address already in use|could not bind/i.test(String(error));
      if (!isTaken || attempt === 5) throw error;
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

/** Postgres, for one, refuses to run as root; then its own user is used. */
export function unprivilegedIdentity(): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * For a server that starts long after its port was chosen, or is killed and started again: a port
 * below the ephemeral range, which no connection takes, and no other test until this process ends.
 */
export async function lastingPort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const chosen = randomInt(20_000, 32_000);
    const server = createServer().listen(chosen, '127.0.0.1');
    try {
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      reserve(chosen);
      return chosen;
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

const reserved = new Set<string>();
process.once('exit', () => {
  for (const file of reserved) rmSync(file, { force: true });
});

/** Throws if another process has the port. One that was killed leaves its file to the next. */
function reserve(port: number): void {
  const file = join(tmpdir(), `pawl-test-port-${port}`);
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    reserved.add(file);
  } catch (error) {
    if (!isAlive(Number(readFileSync(file, 'utf8')))) rmSync(file, { force: true });
    throw error;
  }
}

/** The first of the folders, and then of the PATH, that contains the executable. */
export function findExecutable(name: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env.PATH ?? '').split(delimiter);
  return [...folders, ...path, '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** With setpriv, the kernel ends the server when this process dies. */
function underParent(executable: string, args: readonly string[]): [string, ...string[]] {
  const setpriv = process.platform === 'linux' ? findExecutable('setpriv') : undefined;
  if (setpriv === undefined) return [executable, ...args];
  return [setpriv, '--pdeathsig', 'INT', executable, ...args];
}

async function stopServer(name: string, child: ChildProcess, signal: NodeJS.Signals) {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit', { signal: hangSignal() });
  child.kill(signal);
  await ended.catch(() => {
    child.kill('SIGKILL');
    throw new Error(`${name} did not end within ${patience.eventMs} ms of ${signal}`);
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Servers write to pipes, which must be drained; the last output explains a failed start. */
function collectOutput(child: ChildProcess): () => string {
  let text = '';
  const append = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-outputBytesMax);
  };
  child.stdout?.on('data', append);
  child.stderr?.on('data', append);
  return () => text.trim();
}
