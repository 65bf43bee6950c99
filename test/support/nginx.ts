/** The gateway of `deploy/nginx` in a real nginx, with the ports and files of a test. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable, startServer, withFreePort } from './server.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';

export const gatewayFolder = fileURLToPath(new URL('../../deploy/nginx', import.meta.url));

export interface GatewayOptions {
  /** Where each service listens on 127.0.0.1. */
  readonly ports: Readonly<Record<'orchestrator' | 'scraper' | 'chunking' | 'embedding', number>>;
  /** Lines for the server block, beside the port. */
  readonly listen?: string;
  /** Replacements in the rules, for example shorter times: from → to. */
  readonly changes?: Readonly<Record<string, string>>;
}

export interface Gateway {
  readonly port: number;
  /** The lines of the access log so far, as text. */
  logLines(): string[];
  errorLog(): string;
  stop(): Promise<void>;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const directory = makeDirectory();
  // The workers of nginx run as another user if this one is root.
  chmodSync(directory, 0o755);
  try {
    return await withFreePort((port) => startOn(port, directory, options));
  } catch (error) {
    removeDirectory(directory);
    throw error;
  }
}

async function startOn(
  port: number,
  directory: string,
  { ports, changes = {}, listen = '' }: GatewayOptions,
): Promise<Gateway> {
  const filling = { ports, port, changes, listen };
  const folder = writeConfiguration(directory, 'one-machine', filling);
  const server = await startServer({
    name: 'nginx',
    executable: findNginx(),
    args: nginxArgs(directory, folder, ['-g', 'daemon off;']),
    directory,
    ready: () => accepts(port),
  });
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  return {
    port,
    logLines: () => read('access.json').split('\n').slice(0, -1),
    errorLog: () => read('error.log'),
    async stop() {
      await server.stop('SIGTERM');
      removeDirectory(directory);
    },
  };
}

/** nginx's own check of a configuration: undefined if it is valid. */
export function checkPlace(place: string): string | undefined {
  return checkedIn((directory) => writeConfiguration(directory, place, { changes: {} }));
}

/** The same for an installed folder; only its logs are written elsewhere. */
export function checkInstalled(installed: string): string | undefined {
  return checkedIn((directory) => {
    const folder = join(directory, 'etc');
    cpSync(installed, folder, { recursive: true });
    moveLogs(folder);
    return folder;
  });
}

function checkedIn(write: (directory: string) => string): string | undefined {
  const directory = makeDirectory();
  try {
    const args = nginxArgs(directory, write(directory), ['-t']);
    const { status, stderr } = spawnSync(findNginx(), args, { encoding: 'utf8' });
    return status === 0 ? undefined : stderr;
  } finally {
    removeDirectory(directory);
  }
}

export function listPlaces(): string[] {
  return readdirSync(join(gatewayFolder, 'places')).sort();
}

/** Major, minor, patch, as one comparable number: 1.27.3 is 1027003. */
export function nginxVersion(): number {
  const { stderr } = spawnSync(findNginx(), ['-v'], { encoding: 'utf8' });
  const [, ...parts] = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(stderr) ?? [];
  return parts.reduce((number, part) => number * 1000 + Number(part), 0);
}

interface Filling {
  readonly ports?: GatewayOptions['ports'];
  readonly port?: number;
  readonly listen?: string;
  readonly changes: Readonly<Record<string, string>>;
}

/** The folder as installed, with the addresses of the test. */
function writeConfiguration(directory: string, place: string, filling: Filling): string {
  const { ports = {}, port, listen = '', changes } = filling;
  const folder = join(directory, 'etc');
  cpSync(gatewayFolder, folder, { recursive: true });
  cpSync(join(folder, 'places', place), join(folder, 'place'), { recursive: true });
  const rewrite = (name: string, change: (text: string) => string): void =>
    rewriteFile(join(folder, name), change);
  moveLogs(folder);
  if (port !== undefined) {
    const lines = `listen 127.0.0.1:${port};\n${listen}`;
    rewrite('place/listen.conf', (text) => text.replace(/^listen .*;$/m, lines));
  }
  for (const [service, number] of Object.entries(ports)) {
    const server = new RegExp(`(?<=upstream ${service} \\{[^}]*?server )[^;]+`);
    rewrite('place/upstreams.conf', (text) => text.replace(server, `127.0.0.1:${number}`));
  }
  for (const [from, to] of Object.entries(changes)) {
    rewrite('rules/routes.conf', (text) => {
      if (!text.includes(from)) throw new Error(`rules/routes.conf does not hold ${from}`);
      return text.replaceAll(from, to);
    });
  }
  return folder;
}

function moveLogs(folder: string): void {
  rewriteFile(join(folder, 'place/log.conf'), (text) =>
    text.replaceAll(/\/var\/log\/nginx\/pawl\.(access\.json|error\.log)/g, '$1'),
  );
}

function rewriteFile(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

function nginxArgs(directory: string, folder: string, more: readonly string[]): string[] {
  return ['-p', directory, '-c', join(folder, 'nginx.conf'), '-e', 'stderr', ...more];
}

function findNginx(): string {
  const found = findExecutable('nginx');
  if (found) return found;
  throw new Error(
    'nginx was not found. Install it (Debian: apt-get install nginx, macOS: brew install nginx) ' +
      'or put it on the PATH.',
  );
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
}
