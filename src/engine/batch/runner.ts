/** Batch tasks of one process: the commands, and the loops that gather, submit and reconcile. */
import { limits } from '../../kernel/limits/limits.ts';
import { announce, withdraw } from '../../store/batch/presence.ts';
import { Loop } from '../loop.ts';
import { type BankOptions, bankLeft } from './bank.ts';
import { BatchCommands } from './commands.ts';
import { expireOld } from './expiry.ts';
import { gatherLines, settleEnded } from './lane.ts';
import { openLanes, type TaskPool } from './lanes.ts';
import { pollPool } from './reconciler.ts';
import { type BatchOptions, submissionPool } from './submit.ts';
import { windDownPool } from './wind-down.ts';

export interface RunnerOptions extends BatchOptions, Pick<BankOptions, 'banks'> {
  readonly gatherMs?: number | undefined;
}

export class BatchRunner {
  readonly commands: BatchCommands;
  readonly #options: BatchOptions;
  readonly #pools: readonly TaskPool[];
  readonly #loops: readonly Loop[];
  readonly #submitter: Loop;
  readonly #process: string;
  readonly #ending = new AbortController();
  #isStarted = false;

  constructor({ gatherMs, banks, ...given }: RunnerOptions) {
    const options = { ...given, onEnd: settleEnded };
    this.#options = options;
    this.#process = options.world.uuid();
    const { signal } = this.#ending;
    const submissions = submissionPool(options, signal);
    const polls = pollPool(options, signal);
    const windDowns = windDownPool(options, signal);
    this.#pools = [submissions, polls, windDowns];
    const { lookIntervalMs, presenceMs } = limits.batch;
    this.#submitter = this.#loop('batch submission', lookIntervalMs, async () =>
      submissions.fill(await openLanes(options)),
    );
    this.#loops = [
      this.#submitter,
      this.#loop('reconciler', lookIntervalMs, async () => {
        await expireOld(options);
        const lanes = await openLanes(options);
        await Promise.all([polls.fill(lanes), windDowns.fill(lanes)]);
      }),
      this.#loop('cheap lane', lookIntervalMs, () => gatherLines({ ...options, gatherMs })),
      this.#loop('batch responses', lookIntervalMs, () => bankLeft({ ...options, banks }, signal)),
      this.#loop('batch presence', presenceMs, () => this.#announce()),
    ];
    this.commands = new BatchCommands({ ...options, ring: () => this.wake() });
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#announce();
    for (const loop of this.#loops) loop.start();
  }

  /** Something may be due now. */
  wake(): void {
    if (this.#isStarted) void this.#submitter.runNow();
  }

  /** Running calls are aborted: their results are requested again. */
  async stop(): Promise<void> {
    const { database, onError } = this.#options;
    this.#ending.abort();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await Promise.all(this.#pools.map((pool) => pool.drain()));
    if (!this.#isStarted) return;
    this.#isStarted = false;
    // If this write fails, the announcement of the process expires soon.
    await database
      .write((transaction) => withdraw(transaction, this.#process))
      .catch((error: unknown) => onError('batch presence', error));
  }

  #announce(): Promise<void> {
    const { database, providers } = this.#options;
    const present = { process: this.#process, providers: providers.all, now: database.now() };
    return database.write((transaction) => announce(transaction, present));
  }

  /** Each task has its own due time; the loops only check which are due. */
  #loop(name: string, intervalMs: number, run: () => Promise<unknown>): Loop {
    const { world, onError } = this.#options;
    return new Loop({ name, intervalMs, world, onError, runOnce: async () => void (await run()) });
  }
}
