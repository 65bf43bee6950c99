/**
 * One parser process, seen from Pawl. It gets one document at a time, is watched while it works,
 * and is killed when it takes too long, grows too large, or the result is no longer needed. How it
 * ended decides the failure of its document; nothing else is affected.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Failure, toFailure } from '../../../kernel/failure/failure.ts';
import { limits } from '../../../kernel/limits/limits.ts';
import type { World } from '../../../kernel/world.ts';
import type { Parsed, ParseInput } from '../parsed.ts';
import { type Frame, FrameReader, framePartsOf } from './frame.ts';
import { readResponse } from './message.ts';
import type { CommandLine } from './sandbox.ts';

export interface ChildOptions {
  readonly world: World;
  readonly commandLine: CommandLine;
  /** Removed with the process. */
  readonly scratch: string;
}

export interface ParseBounds {
  readonly signal: AbortSignal;
  /**
   * In CPU time. Wall time depends on the load of the machine, which is not the document's fault.
   */
  readonly timeoutMs: number;
  /** Called once, when the document has taken so long that others should not wait for it. */
  readonly onSlow?: (() => void) | undefined;
}

/** What is awaited: the process to become ready, or a document. */
interface Waiting {
  readonly resolve: (frame: Frame) => void;
  readonly reject: (failure: unknown) => void;
}

export class ParserChild {
  readonly #world: World;
  readonly #process: ChildProcess;
  readonly #frames = new FrameReader();
  /** Resolves when the process and its folder are gone. */
  readonly gone: Promise<void>;
  #waiting: Waiting | undefined;
  #lastWords = '';
  /** Why we killed it, if we did. */
  #verdict: unknown;
  #isKilled = false;
  #isAlive = true;
  #documents = 0;
  #restingBytes = 0;
  /** The peak memory seen for its current document. */
  #seenBytes = 0;

  constructor({ world, commandLine, scratch }: ChildOptions) {
    this.#world = world;
    const { command, args, env } = commandLine;
    this.#process = spawn(command, args, {
      cwd: scratch,
      env,
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    this.gone = new Promise((resolve) => {
      const end = (error?: Error): void => {
        this.#onEnd(error);
        rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
        resolve();
      };
      this.#process.once('close', () => end());
      // Without a process there is nothing to close.
      this.#process.on('error', (error) => {
        if (this.pid === undefined) end(error);
      });
    });
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it can take a document. */
  get isFit(): boolean {
    return this.#isAlive && !this.#isKilled;
  }

  /** It has processed many documents, or has not released its memory. */
  get isSpent(): boolean {
    const { documentsPerProcessMax, restingMemoryBytesMax } = limits.parser;
    return this.#documents >= documentsPerProcessMax || this.#restingBytes > restingMemoryBytesMax;
  }

  /** Resolves when the process has loaded its parser. */
  async ready(): Promise<void> {
    const { startMs } = limits.parser;
    const cancel = this.#world.setTimer(() => {
      this.kill(new Failure('machine_busy', `a parser was not ready after ${startMs} ms`));
    }, startMs);
    try {
      await this.#nextFrame();
    } catch (error) {
      const { code, message } = toFailure(error);
      // No document is at fault yet.
      if (code !== 'parse_crashed' && code !== 'parse_memory') throw error;
      throw new Failure('machine_busy', `a parser could not be started: ${message}`);
    } finally {
      cancel();
    }
  }

  async parse(input: ParseInput, bounds: ParseBounds): Promise<Parsed> {
    const { signal, timeoutMs } = bounds;
    const { bytes, source, ...rest } = input;
    const onAbort = (): void => this.kill(signal.reason);
    const cancels = [this.#watchWait(source, timeoutMs), this.#watchUse(source, bounds)];
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) throw signal.reason;
      const answered = this.#nextFrame();
      this.#say({ source, ...rest }, bytes);
      const { outcome, memoryBytes } = readResponse(await answered);
      this.#documents += 1;
      this.#restingBytes = memoryBytes;
      if (outcome instanceof Failure) throw outcome;
      return outcome;
    } catch (error) {
      if (this.#isAlive || this.#verdict !== undefined) throw error;
      const { code, message } = toFailure(error);
      throw new Failure(code, `${source}: ${message}`, { cause: error });
    } finally {
      for (const cancel of cancels) cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Whether this process keeps ours alive. */
  hold(isHeld: boolean): void {
    for (const handle of [this.#process, ...this.#pipes()]) {
      if (isHeld) handle.ref();
      else handle.unref();
    }
  }

  /** Ends it between two documents. */
  end(): void {
    this.#process.stdin?.end();
  }

  /** Kills it at once. The awaited result fails with the reason. */
  kill(reason: unknown): void {
    this.#verdict ??= reason;
    this.#isKilled = true;
    this.#process.kill('SIGKILL');
  }

  #listen(): void {
    const [input, output, errors] = this.#pipes();
    output?.on('data', (chunk: Buffer) => this.#onChunk(chunk));
    errors?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-limits.parser.lastWordsCharactersMax);
    });
    // A pipe breaks when its process dies; the exit status has the reason.
    for (const pipe of [input, output, errors]) pipe?.on('error', () => this.kill(undefined));
  }

  #pipes(): Socket[] {
    const { stdio } = this.#process;
    return [stdio[0], stdio[3], stdio[2]].filter((pipe) => pipe != null) as Socket[];
  }

  #say(header: object, body: Uint8Array): void {
    for (const part of framePartsOf(header, body)) this.#process.stdin?.write(part);
  }

  #nextFrame(): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.#isAlive) this.#waiting = { resolve, reject };
      else reject(this.#verdict ?? new Failure('parse_crashed', 'the parser is gone'));
    });
  }

  #onChunk(chunk: Buffer): void {
    try {
      const frame = this.#frames.push(chunk);
      if (!frame) return;
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(frame);
    } catch (error) {
      // A protocol error: it can no longer be used as a parser.
      const { message } = toFailure(error);
      this.kill(new Failure('parse_crashed', message, { cause: error }));
    }
  }

  #onEnd(error: Error | undefined): void {
    this.#isAlive = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(this.#verdict ?? this.#causeOfDeath(error));
  }

  #causeOfDeath(error: Error | undefined): Failure {
    if (error) return new Failure('machine_busy', error.message, { cause: error });
    const { exitCode, signalCode } = this.#process;
    const isMemory = /out of memory|bad_alloc|cannot allocate memory/i.test(this.#lastWords);
    // A library that is refused memory exits silently, well before the limit.
    const isRefused =
      signalCode === 'SIGABRT' && this.#seenBytes > limits.parser.memoryBytesMax / 2;
    if (isMemory || isRefused) {
      return new Failure('parse_memory', 'the parser ran out of memory');
    }
    const how = signalCode === null ? `the code ${exitCode}` : signalCode;
    return new Failure('parse_crashed', `the parser ended with ${how}`, {
      cause: this.#lastWords === '' ? undefined : new Error(this.#lastWords),
    });
  }

  #killLate(source: string, time: string): void {
    this.kill(new Failure('parse_timeout', `${source} was not parsed after ${time}`));
  }

  /**
   * For a process that waits for something. One that gets little CPU on a busy machine still makes
   * progress, and is bounded by its CPU time.
   */
  #watchWait(source: string, timeoutMs: number): () => void {
    const { waitFactor, waitCpuFactor } = limits.parser;
    const waitMs = timeoutMs * waitFactor;
    let used = cpuMsOf(this.pid);
    const look = (): void => {
      const usedNow = cpuMsOf(this.pid);
      if (usedNow - used < timeoutMs * waitCpuFactor) {
        this.#killLate(source, `${waitMs} ms, in which it did nothing`);
        return;
      }
      used = usedNow;
      cancel = this.#world.setTimer(look, waitMs);
    };
    let cancel = this.#world.setTimer(look, waitMs);
    return () => cancel();
  }

  /** Polls memory and CPU time; the returned function stops it. */
  #watchUse(source: string, { timeoutMs, onSlow }: ParseBounds): () => void {
    const { memoryLookMs, sliceCpuMs } = limits.parser;
    this.#seenBytes = 0;
    const before = cpuMsOf(this.pid);
    let tellSlow = onSlow;
    let cancel = (): void => undefined;
    const look = (): void => {
      const cpuMs = cpuMsOf(this.pid) - before;
      if (!this.#isWithinMemory(source)) return;
      if (cpuMs > timeoutMs) {
        this.#killLate(source, `${timeoutMs} ms of CPU time`);
        return;
      }
      if (cpuMs > sliceCpuMs) {
        tellSlow?.();
        tellSlow = undefined;
      }
      cancel = this.#world.setTimer(look, memoryLookMs);
    };
    cancel = this.#world.setTimer(look, memoryLookMs);
    return () => cancel();
  }

  /** Kills the process if it exceeds its memory. */
  #isWithinMemory(source: string): boolean {
    const { memoryBytesMax } = limits.parser;
    const used = memoryOf(this.pid);
    if (used === undefined) return false;
    this.#seenBytes = Math.max(this.#seenBytes, used);
    if (used <= memoryBytesMax) return true;
    const message = `${source} took ${used} of ${memoryBytesMax} bytes of memory to parse`;
    this.kill(new Failure('parse_memory', message));
    return false;
  }
}

const pageBytes = 4096;

/**
 * The resident memory of a process; undefined if it is gone, or the system does not report it. Then
 * only the heap is bounded.
 */
function memoryOf(pid: number | undefined): number | undefined {
  try {
    const [, resident] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return Number(resident) * pageBytes;
  } catch {
    return undefined;
  }
}

/** Ticks are hundredths of a second wherever Linux runs Node. */
const tickMs = 10;

/** The CPU time of a process with all its threads; 0 if the system does not report it. */
function cpuMsOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program name, in parentheses, may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return 0;
  }
}
