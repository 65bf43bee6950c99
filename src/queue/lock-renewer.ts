/** The main thread's side of the thread that renews locks. */
import { Worker } from 'node:worker_threads';
import { ceilingMs } from '../kernel/backoff.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { FromLockThread, Lock, LockThreadOptions, ToLockThread } from './lock-thread.ts';

export interface LockRenewerOptions extends LockThreadOptions {
  /**
   * Called when Redis does not respond to the thread, or when the thread has ended and is
   * restarted.
   */
  readonly onTrouble: (error: Error) => void;
  readonly world: World;
  /** The script that the thread runs. */
  readonly script?: URL | undefined;
}

interface HeldLock extends Lock {
  readonly onLost: () => void;
  readonly since: number;
}

const ownScript = new URL('./lock-thread.ts', import.meta.url);

/** The maximum number of released locks that wait to be reported if no new lock is held. */
const releasedMax = 100;

export class LockRenewer {
  readonly #options: LockRenewerOptions;
  readonly #locks = new Map<number, HeldLock>();
  readonly #started = Promise.withResolvers<void>();
  #thread: Worker;
  #released: number[] = [];
  #last = 0;
  #isEnding = false;
  /** Consecutive threads that ended before they reported ready. */
  #failedStarts = 0;
  #cancelStart: () => void = () => undefined;

  constructor(options: LockRenewerOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  /**
   * Resolves when the thread is ready: a message taken earlier could be lost to a busy event loop.
   * Rejects if the thread cannot be started.
   */
  started(): Promise<void> {
    return this.#started.promise;
  }

  /** Renewed until the returned function is called, `forMs` have passed, or the lock is lost. */
  hold(lock: Lock, onLost: () => void): () => void {
    this.#last += 1;
    const hold = this.#last;
    this.#locks.set(hold, { ...lock, onLost, since: performance.now() });
    // Sent at once, not at the end of the turn: the caller may block this thread next.
    this.#send({ hold, ...lock });
    return () => {
      if (this.#locks.delete(hold)) this.#released.push(hold);
      if (this.#released.length > releasedMax) this.#send(undefined);
    };
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#cancelStart();
    await this.#thread.terminate();
  }

  #start(): Worker {
    const { onTrouble, world: _, script = ownScript, ...workerData } = this.#options;
    const thread = new Worker(script, { workerData });
    thread.on('message', (message: FromLockThread) => {
      if (message.kind === 'started') this.#seeStart();
      else if (message.kind === 'trouble') onTrouble(new Error(message.message));
      else this.#lose(message.hold);
    });
    thread.on('error', (error) => onTrouble(error as Error));
    thread.once('exit', () => {
      if (!this.#isEnding) this.#startLater();
    });
    return thread;
  }

  #seeStart(): void {
    this.#failedStarts = 0;
    this.#started.resolve();
  }

  #startLater(): void {
    const { threadRetry, threadStartsMax } = limits.queue;
    const attempt = this.#failedStarts;
    this.#failedStarts += 1;
    if (this.#failedStarts >= threadStartsMax) {
      const message = `the thread that renews locks ended ${this.#failedStarts} times as it began`;
      this.#started.reject(new Failure('machine_busy', message));
    }
    const waitMs = ceilingMs({ ...threadRetry, failedTries: attempt });
    this.#cancelStart = this.#options.world.setTimer(() => this.#startAgain(), waitMs);
  }

  /** Locks stay held: they outlive the start of a thread. */
  #startAgain(): void {
    this.#thread = this.#start();
    const now = performance.now();
    for (const [hold, { id, token, forMs, since }] of this.#locks) {
      this.#send({ hold, id, token, forMs: forMs - (now - since) });
    }
  }

  #lose(hold: number): void {
    const lock = this.#locks.get(hold);
    this.#locks.delete(hold);
    lock?.onLost();
  }

  /** Released locks are sent along: one extra renewal does no harm. */
  #send(held: ToLockThread['held']): void {
    const message: ToLockThread = { held, released: this.#released };
    this.#released = [];
    this.#thread.postMessage(message);
  }
}
