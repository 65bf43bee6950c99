/**
 * Threads for tasks of unknown duration. Each task starts in the fast lane. After its slice of CPU
 * time it moves to the slow lane, which has few slots: if one is free, it continues there with its
 * thread; otherwise it gives up its thread, and restarts when a slot is free. So endless tasks
 * never delay ordinary ones by more than a slice. A task that exceeds its CPU limit is terminated
 * and fails for good: CPU time does not depend on the load of the machine.
 */
import { Worker } from 'node:worker_threads';
import { type Waiter, WaitingLine } from '../../concurrency/waiting-line.ts';
import { Failure } from '../../kernel/failure/failure.ts';
import { limits } from '../../kernel/limits/limits.ts';
import type { World } from '../../kernel/world.ts';
import { cpuMsOf } from './thread-cpu.ts';

export interface ThreadTask {
  readonly message: object;
  /** The length of its text. */
  readonly length: number;
  readonly signal: AbortSignal;
}

export interface LaneBounds {
  readonly threadsMax: number;
  readonly slowThreadsMax: number;
  readonly sliceCpuMs: number;
  readonly cpuMsMax: number;
  readonly cpuLookMs: number;
  readonly waitingMax: number;
  readonly threadHeapMib: number;
}

export interface LaneOptions {
  /** The script of each thread. */
  readonly program: URL;
  readonly world: World;
  readonly bounds?: LaneBounds;
}

type Lane = 'fast' | 'slow';

interface Task extends Waiter {
  readonly message: object;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

interface Run {
  readonly task: Task;
  lane: Lane;
  endWatch?: () => void;
}

export class ThreadLanes {
  readonly #program: URL;
  readonly #world: World;
  readonly #bounds: LaneBounds;
  readonly #idle: Worker[] = [];
  readonly #runs = new Map<Worker, Run>();
  readonly #waiting: Readonly<Record<Lane, WaitingLine<Task>>> = {
    fast: new WaitingLine(),
    slow: new WaitingLine(),
  };
  #isClosed = false;

  constructor({ program, world, bounds = limits.text }: LaneOptions) {
    this.#program = program;
    this.#world = world;
    this.#bounds = bounds;
  }

  run({ message, length, signal }: ThreadTask): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', abort);
          how(value);
        };
      const task: Task = {
        ...{ message, length },
        resolve: settle(resolve),
        reject: settle(reject),
      };
      const abort = (): void => {
        this.#drop(task);
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      if (this.#isClosed) return reject(new Failure('canceled', 'Pawl is being closed'));
      const waiting = this.#waiting.fast.size + this.#waiting.slow.size;
      if (waiting >= this.#bounds.waitingMax) {
        const told = `${waiting} long texts wait for a thread already`;
        return reject(new Failure('machine_busy', told));
      }
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.fast.add(task);
      this.#serve();
    });
  }

  async close(reason: Failure): Promise<void> {
    this.#isClosed = true;
    const threads = [...this.#idle, ...this.#runs.keys()];
    const tasks = [...this.#runs.values()].map(({ task }) => task);
    for (const task of [...tasks, ...this.#waiting.fast.clear(), ...this.#waiting.slow.clear()]) {
      task.reject(reason);
    }
    for (const thread of threads) this.#end(thread);
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  /** Assigns free threads to waiting tasks, and starts threads up to the limit. */
  #serve(): void {
    for (const lane of ['fast', 'slow'] as const) {
      while (this.#hasPlace(lane)) {
        const task = this.#waiting[lane].take();
        if (!task) break;
        this.#begin(task, lane);
      }
    }
  }

  #hasPlace(lane: Lane): boolean {
    const taken = [...this.#runs.values()].filter((run) => run.lane === lane).length;
    return taken < (lane === 'fast' ? this.#bounds.threadsMax : this.#bounds.slowThreadsMax);
  }

  #begin(task: Task, lane: Lane): void {
    const thread = this.#idle.pop() ?? this.#start();
    const run: Run = { task, lane };
    this.#runs.set(thread, run);
    thread.ref();
    const used = cpuMsOf(thread);
    thread.postMessage(task.message);
    void this.#watch(thread, run, used);
  }

  /** Polls the CPU time of a thread while it works on the task. */
  async #watch(thread: Worker, run: Run, before: Promise<number>): Promise<void> {
    const from = await before;
    const look = async (): Promise<void> => {
      const used = (await cpuMsOf(thread)) - from;
      if (this.#runs.get(thread) !== run) return;
      this.#judge(thread, run, used);
      wait();
    };
    const wait = (): void => {
      if (this.#runs.get(thread) !== run) return;
      run.endWatch = this.#world.setTimer(() => void look(), this.#bounds.cpuLookMs);
    };
    wait();
  }

  #judge(thread: Worker, run: Run, usedMs: number): void {
    const { cpuMsMax, sliceCpuMs } = this.#bounds;
    if (usedMs > cpuMsMax) {
      const message = `the text took more than ${cpuMsMax} ms of CPU time`;
      run.task.reject(new Failure('parse_timeout', message));
      this.#stop(thread);
    } else if (usedMs > sliceCpuMs && run.lane === 'fast') this.#slowDown(thread, run);
  }

  #slowDown(thread: Worker, run: Run): void {
    if (this.#hasPlace('slow')) {
      run.lane = 'slow';
      this.#serve();
      return;
    }
    this.#waiting.slow.add(run.task);
    this.#stop(thread);
  }

  #start(): Worker {
    const thread = new Worker(this.#program, {
      resourceLimits: { maxOldGenerationSizeMb: this.#bounds.threadHeapMib },
    });
    thread.on('message', (answer: unknown) => {
      const run = this.#end(thread);
      // The task was given up while its result was in transit; the thread is being terminated.
      if (!run) return;
      // An idle thread must not keep the process alive.
      thread.unref();
      if (this.#idle.length < this.#bounds.threadsMax) this.#idle.push(thread);
      else void thread.terminate();
      run.task.resolve(answer);
      this.#serve();
    });
    thread.on('error', (error) => this.#lose(thread, reasonOf(error, this.#bounds)));
    thread.once('exit', () => {
      this.#lose(thread, new Failure('internal_error', 'a thread for long texts ended too early'));
    });
    return thread;
  }

  #lose(thread: Worker, reason: unknown): void {
    const run = this.#end(thread);
    const place = this.#idle.indexOf(thread);
    if (place >= 0) this.#idle.splice(place, 1);
    run?.task.reject(reason);
    this.#serve();
  }

  #drop(task: Task): void {
    this.#waiting.fast.delete(task);
    this.#waiting.slow.delete(task);
    for (const [thread, run] of this.#runs) if (run.task === task) this.#stop(thread);
  }

  #end(thread: Worker): Run | undefined {
    const run = this.#runs.get(thread);
    this.#runs.delete(thread);
    run?.endWatch?.();
    return run;
  }

  /** Running work can only be ended with its thread. */
  #stop(thread: Worker): void {
    this.#end(thread);
    void thread.terminate();
    this.#serve();
  }
}

function reasonOf(error: unknown, { threadHeapMib }: LaneBounds): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  const message = `the text takes more than ${threadHeapMib} MiB of memory`;
  return new Failure('parse_memory', message, { cause: error });
}
