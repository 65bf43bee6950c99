/** The main thread's side of the thread that renews locks. */
import { Worker } from 'node:worker_threads';
import { ceilingMs } from '../kernel/backoff.ts';
import { Failure } from '../kernel/failure/failure.ts';
import { limits } from '../kernel/limits/limits.ts';
import type { World } from '../kernel/world.ts';
import type { FromLockThread, LockThreadOptions, ToLockThread } from './lock-thread.ts';

export interface LockRenewerOptions extends LockThreadOptions {
  /** Redis does not answer the thread, or the thread has ended and another begins. */
  readonly onTrouble: (error: Error) => void;
  readonly world: World;
  /** What the thread runs. */
  readonly script?: URL | undefined;
}

export interface Lock {
  readonly id: string;
  readonly token: string;
  readonly forMs: number;
}

interface Held extends Lock {
  readonly onLost: () => void;
  readonly since: number;
}

const ownScript = new URL('./lock-thread.ts', import.meta.url);

/** So many wait to be told of at most, where nothing new is held. */
const releasedMax = 100;

export class LockRenewer {
  readonly #options: LockRenewerOptions;
  readonly #held = new Map<number, Held>();
  readonly #started = Promise.withResolvers<void>();
  #thread: Worker;
  #released: number[] = [];
  #last = 0;
  #isEnding = false;
  /** Threads that ended, one after the other, before they said that they are there. */
  #failedStarts = 0;
  #cancelStart: () => void = () => undefined;

  constructor(options: LockRenewerOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  /**
   * Resolves when the thread is there: what is taken before it is could be lost to a busy loop.
   * Rejects where it cannot be started.
   */
  started(): Promise<void> {
    return this.#started.promise;
  }

  /** Renewed until the returned function is called, `forMs` have passed, or the lock is lost. */
  hold(lock: Lock, onLost: () => void): () => void {
    this.#last += 1;
    const hold = this.#last;
    this.#held.set(hold, { ...lock, onLost, since: performance.now() });
    // At once, and not at the end of the turn: what follows may keep this thread busy.
    this.#tell({ hold, ...lock });
    return () => {
      if (this.#held.delete(hold)) this.#released.push(hold);
      if (this.#released.length > releasedMax) this.#tell(undefined);
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
      if (message.said === 'started') this.#seeStart();
      else if (message.said === 'trouble') onTrouble(new Error(message.message));
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

  /** What was held is held on: the locks outlive the start of a thread. */
  #startAgain(): void {
    this.#thread = this.#start();
    const now = performance.now();
    for (const [hold, { id, token, forMs, since }] of this.#held) {
      this.#tell({ hold, id, token, forMs: forMs - (now - since) });
    }
  }

  #lose(hold: number): void {
    const held = this.#held.get(hold);
    this.#held.delete(hold);
    held?.onLost();
  }

  /** What was released goes along: it does no harm if it is renewed once more. */
  #tell(held: ToLockThread['held']): void {
    const message: ToLockThread = { held, released: this.#released };
    this.#released = [];
    this.#thread.postMessage(message);
  }
}
