/**
 * Parses in processes that can be killed: as many as the machine has cores, started on demand,
 * reused, and replaced when they are spent. If none is free, a document waits in line; its time
 * limit counts from its start. A slow document moves aside: its process becomes an extra one, so
 * that others need not wait for it.
 */
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { loadOnce } from '../../../concurrency/load-once.ts';
import { type Waiter, WaitingLine } from '../../../concurrency/waiting-line.ts';
import { Failure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { World } from '../../../kernel/world.ts';
import { unpackOcrModel } from '../format/image/ocr-model.ts';
import type { Parsed, ParseInput, Parser } from '../parsed.ts';
import { ParserChild } from './parser-child.ts';
import { placementOf } from './placement.ts';
import { commandFor, findCage, type SandboxOptions } from './sandbox.ts';
import { makeScratch, type Owner, removeLeftovers } from './scratch.ts';

export interface ProcessParserOptions {
  readonly world: World;
  /** The identity of this process for others. */
  readonly owner: Owner;
  /** The number of processes; one per core if absent. */
  readonly size?: number | undefined;
  /** The URL of the module whose `parse` is called; that of all formats if absent. */
  readonly module?: string | undefined;
  /** Overrides the CPU time limit of every type. */
  readonly timeoutMs?: number | undefined;
}

export interface ProcessParser {
  readonly parse: Parser;
  /** The ids of the current processes. */
  readonly pids: () => readonly number[];
  /** Ends all processes, including working ones, and resolves when they are gone. */
  close(): Promise<void>;
}

export function processParser(options: ProcessParserOptions): ProcessParser {
  const pool = new ParserPool(options);
  return {
    parse: (input, signal) => pool.parse(input, signal),
    pids: () => pool.pids(),
    close: () => pool.close(),
  };
}

interface Waiting extends Waiter {
  readonly resolve: (child: ParserChild | Promise<ParserChild>) => void;
  readonly reject: (reason: unknown) => void;
}

class ParserPool {
  readonly #options: ProcessParserOptions;
  readonly #size: number;
  readonly #module: string;
  readonly #parseHere: () => Promise<Parser>;
  readonly #children = new Set<ParserChild>();
  /** Each with a function that cancels its end. */
  readonly #idle = new Map<ParserChild, () => void>();
  readonly #waiting = new WaitingLine<Waiting>();
  /** Processes with a slow document. They take no slot. */
  readonly #slow = new Set<ParserChild>();
  #ground: Promise<Ground> | undefined;
  /** Slots taken by a process, or by one that is starting. */
  #taken = 0;
  #isClosed = false;

  constructor(options: ProcessParserOptions) {
    this.#options = options;
    this.#size = options.size ?? availableParallelism();
    this.#module = options.module ?? import.meta.resolve('../format/parse.ts');
    this.#parseHere = loadOnce(async () => {
      const { parse } = (await import(this.#module)) as { parse: Parser };
      return parse;
    });
  }

  async parse(input: ParseInput, signal: AbortSignal): Promise<Parsed> {
    const { isHere, timeoutMs } = placementOf(input);
    if (isHere) {
      const parse = await this.#parseHere();
      return parse(input, signal);
    }
    const child = await this.#take(input.bytes.length, signal);
    try {
      return await child.parse(input, {
        signal,
        timeoutMs: this.#options.timeoutMs ?? timeoutMs,
        onSlow: () => this.#moveAside(child),
      });
    } finally {
      this.#giveBack(child);
    }
  }

  pids(): number[] {
    return [...this.#children].flatMap(({ pid }) => pid ?? []);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reason = new Failure('canceled', 'the parsers were closed');
    for (const waiting of this.#waiting.clear()) waiting.reject(reason);
    for (const cancel of this.#idle.values()) cancel();
    this.#idle.clear();
    const children = [...this.#children];
    for (const child of children) {
      child.hold(true);
      child.kill(reason);
    }
    await Promise.all(children.map(({ gone }) => gone));
  }

  /**
   * A process for one document. An aborted caller leaves the line, and does not wait for a start.
   */
  #take(length: number, signal: AbortSignal): Promise<ParserChild> {
    return new Promise((resolve, reject) => {
      let hasLeft = false;
      const leave = (): void => {
        hasLeft = true;
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const hand = (child: ParserChild): void => {
        signal.removeEventListener('abort', leave);
        if (hasLeft) this.#giveBack(child);
        else resolve(child);
      };
      const waiting: Waiting = {
        length,
        resolve: (child) => void Promise.resolve(child).then(hand, reject),
        reject,
      };
      if (signal.aborted) return reject(signal.reason);
      if (this.#isClosed) return reject(new Failure('canceled', 'the parsers were closed'));
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  /** Assigns free processes to the line, and starts processes up to the limit. */
  #serve(): void {
    while (this.#idle.size > 0 || this.#taken < this.#size) {
      const waiting = this.#waiting.take();
      if (!waiting) return;
      const idle = this.#idle.keys().next().value;
      waiting.resolve(idle ? this.#wake(idle) : this.#start());
    }
  }

  #wake(child: ParserChild): ParserChild {
    this.#idle.get(child)?.();
    this.#idle.delete(child);
    child.hold(true);
    return child;
  }

  async #start(): Promise<ParserChild> {
    this.#taken += 1;
    let child: ParserChild | undefined;
    try {
      child = await this.#spawn();
      await child.ready();
      return child;
    } catch (error) {
      if (!child) this.#free();
      throw error;
    }
  }

  async #spawn(): Promise<ParserChild> {
    const { world, owner } = this.#options;
    this.#ground ??= prepare(owner);
    const ground = await this.#ground;
    const scratch = await makeScratch(owner);
    const commandLine = commandFor({ ...ground, scratch, module: this.#module });
    const child = new ParserChild({ world, commandLine, scratch });
    this.#children.add(child);
    if (this.#isClosed) child.kill(new Failure('canceled', 'the parsers were closed'));
    void child.gone.then(() => this.#forget(child));
    return child;
  }

  /** At most as many are slow as there are slots: beyond that, the next document has to wait. */
  #moveAside(child: ParserChild): void {
    if (this.#slow.size >= this.#size) return;
    this.#slow.add(child);
    this.#free();
  }

  #giveBack(child: ParserChild): void {
    // A process that is ending frees its slot when it is gone.
    if (!child.isFit || this.#isClosed) return;
    // Another process has its slot.
    if (child.isSpent || this.#slow.has(child)) {
      child.end();
      return;
    }
    child.hold(false);
    const cancel = this.#options.world.setTimer(() => {
      this.#idle.delete(child);
      child.end();
    }, limits.parser.idleMs);
    this.#idle.set(child, cancel);
    this.#serve();
  }

  #forget(child: ParserChild): void {
    this.#idle.get(child)?.();
    this.#idle.delete(child);
    this.#children.delete(child);
    if (!this.#slow.delete(child)) this.#free();
  }

  #free(): void {
    this.#taken -= 1;
    if (!this.#isClosed) this.#serve();
  }
}

type Ground = Pick<SandboxOptions, 'cage' | 'ocrFolder'>;

/**
 * Before the first process: removes the leftovers of killed ones, and creates what all of them
 * need.
 */
async function prepare(owner: Owner): Promise<Ground> {
  await removeLeftovers(owner);
  // Node's permissions apply to real paths. If the model cannot be unpacked for all (no space, or a
  // file of another user), each parser that needs it unpacks its own.
  const ocrFolder = await unpackOcrModel().then(
    (folder) => realpath(folder),
    () => undefined,
  );
  return { cage: await findCage(), ocrFolder };
}
