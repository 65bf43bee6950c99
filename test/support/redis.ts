import { connect } from 'node:net';
import { findExecutable, startServer, withFreePort } from './server.ts';
import { makeDirectory, removeDirectory } from './temporary.ts';

export interface RedisOptions {
  /** Keeps writes over a restart, with an fsync per write. */
  readonly appendonly?: boolean;
  readonly settings?: Readonly<Record<string, string | number>>;
}

export interface Redis {
  readonly url: string;
  readonly port: number;
  /** It changes after a restart. */
  readonly pid: number;
  /** `immediate` kills it, like a crash. */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const directory = makeDirectory();
  try {
    return await withFreePort((port) => startOn(port, directory, options));
  } catch (error) {
    removeDirectory(directory);
    throw error;
  }
}

async function startOn(port: number, directory: string, options: RedisOptions): Promise<Redis> {
  const executable = findExecutable('redis-server');
  if (executable === undefined) {
    throw new Error(
      'redis-server was not found. Install it (Debian: apt-get install redis-server, macOS: brew ' +
        'install redis) or put it on the PATH.',
    );
  }
  const args = settingArgs(port, directory, options);
  const ready = () => answersPing(port);
  const start = () => startServer({ name: 'Redis', executable, args, directory, ready });
  let server = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    async restart(mode = 'fast') {
      await server.stop(mode === 'fast' ? 'SIGTERM' : 'SIGKILL');
      server = await start();
    },
    async stop() {
      await server.stop('SIGTERM');
      removeDirectory(directory);
    },
  };
}

function settingArgs(port: number, directory: string, options: RedisOptions): string[] {
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    appendonly: options.appendonly ? 'yes' : 'no',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
    ...options.settings,
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** Uses the Redis protocol directly, so that the fixtures need no client. */
export async function answersPing(port: number, answer = /^\+PONG/): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' }).setTimeout(2_000, () => socket.destroy());
  socket.write('PING\r\n');
  try {
    for await (const chunk of socket) return answer.test(String(chunk));
    return false;
  } finally {
    socket.destroy();
  }
}
