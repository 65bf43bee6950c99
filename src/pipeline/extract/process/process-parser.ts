/**
 * Parsing in processes that can be killed: as many as the machine has cores, started when they are
 * needed, used again for the next document, and replaced when they are spent. Who finds none free
 * waits in line; the time that a document may take counts from when its turn has come. One that
 * takes long moves aside: its process becomes one more, so that others need not wait for it.
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
  /** This process, as others see it. */
  readonly owner: Owner;
  /** How many processes; one for each core where nothing is said. */
  readonly size?: number | undefined;
  /** The address of the module whose `parse` is called; that of all formats where absent. */
  readonly module?: string | undefined;
  /** Overrides the CPU time of every type. */
  readonly timeoutMs?: number | undefined;
}

export interface ProcessParser {
  readonly parse: Parser;
  /** The processes that are there now. */
  readonly pids: () => readonly number[];
  /** Ends all processes, also those at work, and resolves when they are gone. */
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
  /** Each with what calls off its end. */
  readonly #idle = new Map<ParserChild, () => void>();
  readonly #waiting = new WaitingLine<Waiting>();
  /** At a document that takes long. They take no place. */
  readonly #slow = new Set<ParserChild>();
  #ground: Promise<Ground> | undefined;
  /** Places that are taken: by a process, or by one that is about to be. */
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

  /** A process for one document. Aborting leaves the line, and waits for no process to start. */
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

  /** Gives those in line what is free, and starts what may still be started. */
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

  /** As many may be slow as there are places: then whoever comes next has to wait. */
  #moveAside(child: ParserChild): void {
    if (this.#slow.size >= this.#size) return;
    this.#slow.add(child);
    this.#free();
  }

  #giveBack(child: ParserChild): void {
    // One that is gone, or about to be, gives its place back when it is.
    if (!child.isFit || this.#isClosed) return;
    // Another has its place.
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

/** Before the first process: what killed ones have left goes, and what all of them need is made. */
async function prepare(owner: Owner): Promise<Ground> {
  await removeLeftovers(owner);
  // Node's permissions speak of real paths. Where the model cannot be put for all (no room, or
  // somebody else sits there), each parser that needs it unpacks its own.
  const ocrFolder = await unpackOcrModel().then(
    (folder) => realpath(folder),
    () => undefined,
  );
  return { cage: await findCage(), ocrFolder };
}
