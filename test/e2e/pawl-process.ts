/** Runs `pawl` like a user: as a process, in its own folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { patience } from '../support/patience.ts';
import { pawlProgram } from '../support/pawl-program.ts';
import { isStopped } from '../support/process-state.ts';
import { type Cleanup, makeDirectory, removeDirectory } from '../support/temporary.ts';
import { until } from '../support/wait.ts';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Resolves to the match as soon as the output of either stream matches. */
  seen(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Resolves when the process has stopped at its failpoint. */
  stopped(): Promise<void>;
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Keeps stdin open for more input. */
  readonly isInputOpen?: boolean;
  /** A process that runs longer counts as hanging. */
  readonly lifeMs?: number;
}

export interface CommandRunner {
  readonly folder: string;
  /** Writes a file below the folder, and returns its path. */
  write(name: string, body: string | Uint8Array): string;
  start(args: readonly string[], options?: RunOptions): Started;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Runs with `--json`, and parses each line of the output. */
  read(args: readonly string[]): Promise<Record<string, unknown>[]>;
  /** The same for one line of a known shape. */
  readOne<Shape>(args: readonly string[]): Promise<Shape>;
}

export function openRunner(t: Cleanup, program = pawlProgram): CommandRunner {
  const folder = makeDirectory();
  const children = new Set<ChildProcess>();
  t.after(async () => {
    await Promise.all([...children].map(killed));
    // A process that still runs could write files into it meanwhile.
    removeDirectory(folder);
  });
  const start = (args: readonly string[], options: RunOptions = {}): Started => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', ...options.environment },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    // A process may end before it has read its input.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    child.stdin.write(options.input ?? '');
    if (!options.isInputOpen) child.stdin.end();
    return watch(child, options.lifeMs ?? patience.testMs);
  };
  const run: CommandRunner['run'] = (args, options) => start(args, options).finished;
  const read: CommandRunner['read'] = async (args) => {
    const { stdout } = await run([...args, '--json']);
    const lines = stdout.trim().split('\n');
    return lines.map((line) => JSON.parse(line));
  };
  return {
    folder,
    write: (name, body) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, body);
      return path;
    },
    start,
    run,
    read,
    readOne: async <Shape>(args: readonly string[]) => (await read(args))[0] as Shape,
  };
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function watch(child: ChildProcess, lifeMs: number): Started {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  // A hanging process is killed at the deadline, and its test fails with its output.
  const deadline = setTimeout(() => {
    output.stderr += `\nkilled by the test: still running after ${lifeMs} ms`;
    child.kill('SIGKILL');
  }, lifeMs);
  const finished = once(child, 'close').then(([code, signal]): Finished => {
    clearTimeout(deadline);
    return { code, signal, ...output };
  });
  return {
    child,
    finished,
    seen: (pattern) => {
      const found = () => `${output.stdout}${output.stderr}`.match(pattern) ?? undefined;
      return until(found, { what: `${pattern} in ${child.pid}` });
    },
    stopped: async () => {
      const what = `process ${child.pid} to stop at its failpoint`;
      await until(() => isStopped(child.pid), { what });
    },
  };
}
