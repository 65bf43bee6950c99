/** The main thread's side of the thread that renews locks. */
import { Worker } from 'node:worker_threads';
import type { FromLockThread, LockThreadOptions, ToLockThread } from './lock-thread.ts';

export interface LockRenewerOptions extends LockThreadOptions {
  /** Redis does not answer the thread, or the thread has ended and another begins. */
  readonly onTrouble: (error: Error) => void;
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

export class LockRenewer {
  readonly #options: LockRenewerOptions;
  readonly #held = new Map<number, Held>();
  readonly #started = Promise.withResolvers<void>();
  #thread: Worker;
  #last = 0;
  #isEnding = false;

  constructor(options: LockRenewerOptions) {
    this.#options = options;
    this.#thread = this.#start();
  }

  /** Resolves when the thread is there: what is taken before it is could be lost to a busy loop. */
  started(): Promise<void> {
    return this.#started.promise;
  }

  /** Renewed until the returned function is called, `forMs` have passed, or the lock is lost. */
  hold(lock: Lock, onLost: () => void): () => void {
    this.#last += 1;
    const hold = this.#last;
    this.#held.set(hold, { ...lock, onLost, since: performance.now() });
    this.#tell({ do: 'hold', hold, ...lock });
    return () => {
      if (this.#held.delete(hold)) this.#tell({ do: 'release', hold });
    };
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#thread.terminate();
  }

  #start(): Worker {
    const { onTrouble, ...workerData } = this.#options;
    const thread = new Worker(new URL('./lock-thread.ts', import.meta.url), { workerData });
    thread.on('message', (message: FromLockThread) => {
      if (message.said === 'started') this.#started.resolve();
      else if (message.said === 'trouble') onTrouble(new Error(message.message));
      else this.#lose(message.hold);
    });
    thread.on('error', (error) => onTrouble(error as Error));
    thread.once('exit', () => {
      if (!this.#isEnding) this.#startAgain();
    });
    return thread;
  }

  /** What was held is held on: the locks outlive the start of a thread. */
  #startAgain(): void {
    this.#thread = this.#start();
    const now = performance.now();
    for (const [hold, { id, token, forMs, since }] of this.#held) {
      this.#tell({ do: 'hold', hold, id, token, forMs: forMs - (now - since) });
    }
  }

  #lose(hold: number): void {
    const held = this.#held.get(hold);
    this.#held.delete(hold);
    held?.onLost();
  }

  #tell(message: ToLockThread): void {
    this.#thread.postMessage(message);
  }
}
