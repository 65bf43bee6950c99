/**
 * Work whose time grows with the text: cutting it, and finding the names in it. A short text is
 * worked on here. A long one would hold up everything else that this process does, its own time
 * limit included: it goes to a thread, which can be ended. Threads begin with the first long text.
 */
import { Worker } from 'node:worker_threads';
import { Failure } from '../../kernel/failure.ts';
import { limits } from '../../kernel/limits.ts';
import type { NewChunk } from '../../store/chunks.ts';
import { bounded, type Cutter, cutHere } from '../chunk/cut.ts';
import type { Extraction } from '../entity/extraction.ts';
import { entitiesHere, type FindEntities } from '../entity/local-extractor.ts';

export interface TextAnswers {
  readonly cut: readonly Omit<NewChunk, 'text'>[];
  readonly entities: Extraction;
}

export type TextWork = keyof TextAnswers;

export interface LongText {
  readonly work: TextWork;
  readonly text: string;
}

interface Task extends LongText {
  readonly resolve: (answer: never) => void;
  readonly reject: (reason: unknown) => void;
}

export class TextThreads {
  readonly #idle: Worker[] = [];
  readonly #busy = new Map<Worker, Task>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Task>();
  readonly #findHere = entitiesHere();
  #isClosed = false;

  readonly cut: Cutter = async (text, signal) => {
    signal.throwIfAborted();
    if (isShort(text)) return cutHere(text, signal);
    const places = await this.#ask('cut', text, signal);
    return bounded(places).map((chunk) => ({
      ...chunk,
      text: text.slice(chunk.startOffset, chunk.endOffset),
    }));
  };

  readonly findEntities: FindEntities = (text, signal) =>
    isShort(text) ? this.#findHere(text) : this.#ask('entities', text, signal);

  async close(): Promise<void> {
    this.#isClosed = true;
    const reason = new Failure('canceled', 'the threads for long texts were closed');
    const threads = [...this.#idle, ...this.#busy.keys()];
    for (const task of [...this.#busy.values(), ...this.#waiting]) task.reject(reason);
    this.#busy.clear();
    this.#waiting.clear();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #ask<Work extends TextWork>(
    work: Work,
    text: string,
    signal: AbortSignal,
  ): Promise<TextAnswers[Work]> {
    return new Promise((resolve, reject) => {
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', abort);
          how(value);
        };
      const task: Task = { work, text, resolve: settle(resolve), reject: settle(reject) };
      const abort = (): void => {
        this.#drop(task);
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      if (this.#isClosed) return reject(new Failure('canceled', 'Pawl is being closed'));
      if (this.#waiting.size >= limits.text.waitingMax) {
        const message = `${this.#waiting.size} long texts wait for a thread already`;
        return reject(new Failure('machine_busy', message));
      }
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(task);
      this.#serve();
    });
  }

  /** Gives those in line what is free, and starts what may still be started. */
  #serve(): void {
    for (const task of this.#waiting) {
      const isFull = this.#busy.size >= limits.text.threadsMax;
      const thread = this.#idle.pop() ?? (isFull ? undefined : this.#start());
      if (!thread) return;
      this.#waiting.delete(task);
      this.#busy.set(thread, task);
      thread.ref();
      thread.postMessage({ work: task.work, text: task.text } satisfies LongText);
    }
  }

  #start(): Worker {
    const thread = new Worker(new URL('./text-thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: limits.text.threadHeapMib },
    });
    thread.on('message', (answer: unknown) => {
      const task = this.#busy.get(thread);
      // It was given up while the answer was on its way, and the thread is being ended.
      if (!task) return;
      this.#busy.delete(thread);
      // One that waits for work must not keep the process.
      thread.unref();
      this.#idle.push(thread);
      task.resolve(answer as never);
      this.#serve();
    });
    thread.on('error', (error) => this.#lose(thread, reasonOf(error)));
    thread.once('exit', () => {
      this.#lose(thread, new Failure('internal_error', 'a thread for long texts ended too early'));
    });
    return thread;
  }

  #lose(thread: Worker, reason: unknown): void {
    const task = this.#busy.get(thread);
    this.#busy.delete(thread);
    const place = this.#idle.indexOf(thread);
    if (place >= 0) this.#idle.splice(place, 1);
    task?.reject(reason);
    this.#serve();
  }

  /** Work that is under way can only be ended with its thread. */
  #drop(task: Task): void {
    this.#waiting.delete(task);
    for (const [thread, current] of this.#busy) {
      if (current !== task) continue;
      this.#busy.delete(thread);
      void thread.terminate();
      this.#serve();
    }
  }
}

function isShort(text: string): boolean {
  return text.length <= limits.text.hereCharactersMax;
}

function reasonOf(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  const message = `the text takes more than ${limits.text.threadHeapMib} MiB of memory`;
  return new Failure('parse_memory', message, { cause: error });
}
