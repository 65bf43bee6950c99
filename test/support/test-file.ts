/** Runs one test file in its own process group, so that nothing it started outlives it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compiled } from './compiled.ts';
import { patience } from './patience.ts';
import type { TestMessage } from './test-reporter.ts';

export interface TestFailure {
  readonly name: string;
  readonly detail: string;
}

export interface FileResult {
  readonly file: string;
  readonly passed: number;
  /** Why each skipped test was skipped. */
  readonly skipped: readonly string[];
  readonly failures: readonly TestFailure[];
  readonly durationMs: number;
  /** Of the file and the processes it waited for; undefined if it did not come to its end. */
  readonly cpuSeconds: number | undefined;
  /** The end of the file's output. */
  readonly output: string;
}

const outputCharactersMax = 20_000;
/**
 * A process that left the group may hold the pipes open forever: then the end of the output is
 * lost.
 */
const drainMs = 2_000;
const reporter = fileURLToPath(new URL('./test-reporter.ts', import.meta.url));
const running = new Set<ChildProcess>();

export async function runTestFile(file: string): Promise<FileResult> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`--test-reporter=${reporter}`, file], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    // Hundreds of processes load the same modules: they are compiled once.
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  running.add(child);
  const tally = new Tally();
  const kill = (reason: string) => {
    tally.fail(file, reason);
    killGroup(child);
  };
  const timeout = setTimeout(
    () => kill(`took more than ${patience.fileMs / 1000} s; last begun: ${tally.lastBegun}`),
    patience.fileMs,
  );
  let linger: NodeJS.Timeout | undefined;
  child.on('message', (message: TestMessage) => {
    tally.add(message);
    clearTimeout(linger);
    if (tally.underWay > 0) return;
    linger = setTimeout(
      () => kill('the tests ended but the process did not: something was left open'),
      patience.eventMs,
    );
  });
  child.stdout?.on('data', tally.write);
  child.stderr?.on('data', tally.write);

  // The last messages and the last output may arrive after the exit.
  const told = once(child, 'disconnect');
  const drained = once(child, 'close');
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timeout);
  killGroup(child);
  await told;
  // Only now: each message that arrives after the exit starts the timer again.
  clearTimeout(linger);
  await Promise.race([drained, pause(drainMs, undefined, { ref: false })]);
  running.delete(child);
  return tally.result(file, code ?? signal, performance.now() - startedAt);
}

/** Ends every running test file, when the runner itself is stopped. */
export function killTestFiles(): void {
  for (const child of running) killGroup(child);
}

class Tally {
  lastBegun = 'no test yet';
  underWay = 0;
  #passed = 0;
  #output = '';
  #cpuSeconds: number | undefined;
  readonly #skipped: string[] = [];
  readonly #failures: TestFailure[] = [];

  add(message: TestMessage): void {
    switch (message.kind) {
      case 'begun':
        this.lastBegun = message.name;
        this.underWay += 1;
        break;
      case 'ended':
        this.underWay -= 1;
        break;
      case 'passed':
        this.#passed += 1;
        break;
      case 'skipped':
        this.#skipped.push(message.reason);
        break;
      case 'failed':
        this.fail(message.name, message.detail);
        break;
      case 'spent':
        this.#cpuSeconds = message.cpuSeconds;
        break;
    }
  }

  fail(name: string, detail: string): void {
    this.#failures.push({ name, detail });
  }

  write = (chunk: Buffer): void => {
    this.#output = (this.#output + chunk.toString()).slice(-outputCharactersMax);
  };

  result(file: string, exit: number | string, durationMs: number): FileResult {
    const passed = this.#passed;
    const skipped = this.#skipped;
    if (this.#failures.length === 0) {
      if (exit !== 0) this.fail(file, `the process ended with ${exit}`);
      else if (passed + skipped.length === 0) this.fail(file, 'the file has no tests');
    }
    const failures = [...this.#failures];
    const cpuSeconds = this.#cpuSeconds;
    return { file, passed, skipped, failures, durationMs, cpuSeconds, output: this.#output };
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // The group is empty, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
