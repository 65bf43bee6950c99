/** Batch tasks of one process: the commands, and the loops that gather, submit and reconcile. */
import { limits } from '../kernel/limits.ts';
import { type BankOptions, bankLeft } from './batch-bank.ts';
import { BatchCommands } from './batch-commands.ts';
import { gatherLines, settleEnded } from './batch-lane.ts';
import { type BatchOptions, submitDue } from './batch-submit.ts';
import { Loop } from './loop.ts';
import { reconcile } from './reconciler.ts';

export interface RunnerOptions extends BatchOptions, Pick<BankOptions, 'banks'> {
  readonly gatherMs?: number | undefined;
}

export class BatchRunner {
  readonly commands: BatchCommands;
  readonly #options: BatchOptions;
  readonly #loops: readonly Loop[];
  readonly #submitter: Loop;
  readonly #ending = new AbortController();
  #isStarted = false;

  constructor({ gatherMs, banks, ...given }: RunnerOptions) {
    const options = { ...given, onEnd: settleEnded };
    this.#options = options;
    const { signal } = this.#ending;
    this.#submitter = this.#loop('batch submission', () => submitDue(options, signal));
    this.#loops = [
      this.#submitter,
      this.#loop('reconciler', () => reconcile(options, signal)),
      this.#loop('cheap lane', () => gatherLines({ ...options, gatherMs })),
      this.#loop('answers of batches', () => bankLeft({ ...options, banks }, signal)),
    ];
    this.commands = new BatchCommands({ ...options, ring: () => this.wake() });
  }

  start(): void {
    this.#isStarted = true;
    for (const loop of this.#loops) loop.start();
  }

  /** Something may be due at once. */
  wake(): void {
    if (this.#isStarted) void this.#submitter.runNow();
  }

  /** Calls under way are broken off: what they would have brought is asked for again. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#ending.abort();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  /** Each task has its own time; the loop only looks for those whose time has come. */
  #loop(name: string, run: () => Promise<number>): Loop {
    const { world, onError } = this.#options;
    const intervalMs = limits.batch.lookIntervalMs;
    return new Loop({ name, intervalMs, world, onError, runOnce: async () => void (await run()) });
  }
}
