/** Runs the command of a product, with what all of its processes use. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from './product.ts';

export interface Spent {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** The peak over all its processes together; what they share counts once. */
  readonly peakBytes: number;
}

export interface Running {
  /** `kill -9` for every process. */
  kill(): void;
  /** Throws if it failed on its own. */
  readonly ended: Promise<Spent>;
}

const sampleMs = 250;
const timeoutMs = 30 * 60_000;
const errorCharactersMax = 2000;

export function startCommand({ program, args, environment }: Command, folder: string): Running {
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: its processes are found by it, even those whose parent has ended.
    detached: true,
  });
  const session = child.pid;
  if (session === undefined) throw new Error(`${program} could not be started`);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(-errorCharactersMax);
  });
  const usage = new Usage(session);
  const sampling = setInterval(() => usage.sample(), sampleMs);
  const state = { isKilled: false, isLate: false };
  const kill = (): void => {
    for (const { pid } of processesOf(session)) signalIfAlive(pid);
  };
  // A bench that is interrupted leaves no product behind.
  process.once('exit', kill);
  const late = setTimeout(() => {
    state.isLate = true;
    kill();
  }, timeoutMs);
  const ended = once(child, 'close').then(([code, signal]): Spent => {
    process.off('exit', kill);
    clearInterval(sampling);
    clearTimeout(late);
    const seconds = (performance.now() - startedAt) / 1000;
    const isFine = code === 0 || state.isKilled;
    if (!isFine) {
      const how = state.isLate ? 'took too long' : `ended with ${code ?? signal}`;
      throw new Error(`${program} ${args.join(' ')} ${how}: ${errors}`);
    }
    return { seconds, cpuSeconds: usage.cpuSeconds, peakBytes: usage.peakBytes };
  });
  return {
    kill: () => {
      state.isKilled = true;
      kill();
    },
    ended,
  };
}

function signalIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

class Usage {
  peakBytes = 0;
  readonly #session: number;
  readonly #ticks = new Map<number, number>();

  constructor(session: number) {
    this.#session = session;
  }

  /** Up to its last sample: what a process does after that is not counted. */
  get cpuSeconds(): number {
    return [...this.#ticks.values()].reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
  }

  sample(): void {
    let bytes = 0;
    for (const { pid, ticks } of processesOf(this.#session)) {
      this.#ticks.set(pid, ticks);
      const [, kibibytes = '0'] = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`)) ?? [];
      bytes += 1024 * Number(kibibytes);
    }
    this.peakBytes = Math.max(this.peakBytes, bytes);
  }
}

const ticksPerSecond = 100;

function processesOf(session: number): { pid: number; ticks: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      if (fields[3] !== session) return [];
      return [{ pid: Number(name), ticks: (fields[11] ?? 0) + (fields[12] ?? 0) }];
    });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has just gone.
  }
}
