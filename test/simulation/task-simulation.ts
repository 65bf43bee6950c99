/**
 * Batch tasks under faults: processes that die between any two awaits and at every failpoint,
 * commits whose response is lost, concurrent deliveries, two reconcilers, providers that lose
 * responses. Then the faults stop, and every task has to end as its provider's records say.
 */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../../src/blob/blob.ts';
import { BatchCommands } from '../../src/engine/batch/commands.ts';
import { BatchProviders } from '../../src/engine/batch/plan.ts';
import type { BatchOptions } from '../../src/engine/batch/submit.ts';
import type { World } from '../../src/kernel/world.ts';
import type { BatchTaskRow } from '../../src/store/batch/tasks.ts';
import { listEvents } from '../../src/store/delivery/events.ts';
import type { Database } from '../../src/store/driver/database.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { reconcile, submitDue } from '../support/batch/rounds.ts';
import { Random } from './random.ts';
import { nobody, type Owner, Schedule } from './schedule.ts';
import type { SimulatedStore } from './store.ts';
import { judgeTasks } from './task-judge.ts';
import { type Trouble, TruthProvider } from './task-provider.ts';

export const recognitions = ['token', 'list', 'note', 'none'] as const;

export interface TaskRun {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly tasks: number;
  readonly crashes: number;
  readonly failpoints: ReadonlySet<string>;
}

export interface TaskRunOptions {
  readonly seed: number;
  readonly store: SimulatedStore;
  /** The planted defect. */
  readonly plant?: ((options: BatchOptions) => BatchOptions) | undefined;
}

const startAt = 1_700_000_000_000;
const endMs = 40 * 3_600_000;

export function runTaskSeed(options: TaskRunOptions): Promise<TaskRun> {
  return new TaskSimulation(options).run();
}

class TaskSimulation {
  readonly #options: TaskRunOptions;
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #trouble: Trouble;
  readonly #crashing: Trouble;
  readonly #truth: TruthProvider;
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #failpoints = new Set<string>();
  readonly #processes = new Set<Owner & { isDead: boolean }>();
  readonly #canceled = new Set<string>();
  #crashes = 0;
  #isOver = false;

  constructor(options: TaskRunOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#schedule = new Schedule(this.#random, startAt);
    this.#trouble = { rate: this.#random.pick([0, 0.05, 0.2]) };
    this.#crashing = { rate: this.#random.pick([0, 0.01, 0.05]) };
    this.#truth = new TruthProvider(this.#random, this.#schedule, this.#trouble);
  }

  async run(): Promise<TaskRun> {
    const { store, seed } = this.#options;
    await store.reset(this.#schedule);
    const violations: string[] = [];
    const onRejection = (error: unknown): void => void violations.push(`thrown: ${error}`);
    process.on('unhandledRejection', onRejection);
    this.#begin();
    await this.#schedule.run(() => this.#isOver);
    for (const each of this.#processes) each.isDead = true;
    await this.#schedule.run(() => false);
    process.off('unhandledRejection', onRejection);
    const tasks = await store.database.run(allTasks);
    violations.push(
      ...judgeTasks({
        tasks,
        events: await listEvents(store.database, { after: 0, limit: 100_000 }),
        blobs: this.#blobs,
        truth: this.#truth,
        canceled: this.#canceled,
      }),
    );
    const { size } = this.#processes;
    const crashes = Math.max(this.#crashes, size - 2);
    return { seed, violations, tasks: tasks.length, crashes, failpoints: this.#failpoints };
  }

  #begin(): void {
    const random = this.#random;
    this.#startProcess();
    this.#startProcess();
    const count = random.whole(1, 6);
    for (let task = 0; task < count; task += 1) {
      this.#schedule.push(nobody, random.whole(0, 600_000), () => void this.#submit(task));
    }
    this.#schedule.push(nobody, random.whole(600_000, 3_600_000), () => {
      this.#trouble.rate = 0;
      this.#crashing.rate = 0;
    });
    this.#look();
  }

  /** Everything has ended, or it is too late. */
  #look(): void {
    this.#schedule.push(nobody, 300_000, async () => {
      const open = await this.#options.store.database.run(openTasks);
      const isCalm = this.#trouble.rate === 0 && this.#crashing.rate === 0;
      const isLate = this.#schedule.now - startAt > endMs;
      if (isLate || (isCalm && open[0]?.count === 0 && this.#schedule.now - startAt > 700_000)) {
        this.#isOver = true;
      } else {
        this.#look();
      }
    });
  }

  async #submit(task: number): Promise<void> {
    const random = this.#random;
    const recognition = random.pick(recognitions);
    const urls = Array.from(
      { length: random.whole(1, 4) },
      (_, index) => `https://media.example/${task}-${index}.wav`,
    );
    const living = { isDead: false, stalledUntil: 0 };
    const options = this.#optionsOf(living, this.#options.store.database);
    const commands = new BatchCommands({ ...options, ring: () => undefined });
    const provider = recognition.toUpperCase();
    const body = { task_type: 'transcription', provider, urls };
    const { key } = await commands.submit('ann', body);
    if (!random.chance(0.15)) return;
    this.#schedule.push(nobody, random.whole(1, 3_600_000), () => {
      commands.cancel('ann', key).then(
        () => this.#canceled.add(key),
        // It had ended before.
        () => undefined,
      );
    });
  }

  #startProcess(): void {
    // The rest of a run is drained and starts nothing.
    if (this.#isOver) return;
    const owner = { isDead: false, stalledUntil: 0 };
    this.#processes.add(owner);
    const options = this.#optionsOf(owner, this.#gated(owner));
    const made = this.#options.plant?.(options) ?? options;
    const signal = new AbortController().signal;
    const again = (work: () => Promise<unknown>, gapMs: number): void => {
      this.#schedule.push(owner, this.#random.whole(1, gapMs), () => {
        // An error of a loop is reported, and the loop continues.
        void work()
          .catch(() => undefined)
          .then(() => again(work, gapMs));
      });
    };
    again(() => submitDue(made, signal), 60_000);
    again(() => reconcile(made, signal), 240_000);
  }

  #crash(owner: Owner & { isDead: boolean }): void {
    if (owner.isDead) return;
    owner.isDead = true;
    this.#crashes += 1;
    this.#schedule.push(nobody, this.#random.whole(1, 120_000), () => this.#startProcess());
  }

  #optionsOf(owner: Owner & { isDead: boolean }, database: Database): BatchOptions {
    const hear = <T>(answer: Promise<T>): Promise<T> => this.#hear(owner, answer);
    const providers = recognitions.map((kind) => this.#truth.adapter(kind, hear));
    return {
      database,
      world: this.#world(owner),
      blobs: this.#blobStore(owner),
      providers: new BatchProviders(providers),
      onError: () => undefined,
    };
  }

  /** A dead process receives nothing. */
  #hear<T>(owner: Owner & { isDead: boolean }, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const tell = (run: () => void) => (): void => {
        if (this.#random.chance(this.#crashing.rate)) this.#crash(owner);
        if (!owner.isDead) run();
      };
      answer.then(
        (value) => tell(() => resolve(value))(),
        (error) => tell(() => reject(error))(),
      );
    });
  }

  #gated(owner: Owner & { isDead: boolean }): Database {
    const { database } = this.#options.store;
    return {
      dialect: database.dialect,
      commitsMax: 1,
      now: () => this.#schedule.now,
      measureClock: async () => undefined,
      close: async () => undefined,
      get early() {
        return this;
      },
      flushed: async () => undefined,
      run: (statement, parameters) => this.#hear(owner, database.run(statement, parameters)),
      write: (work) => {
        if (owner.isDead) return new Promise(() => undefined);
        return this.#hear(
          owner,
          database.write(async (transaction) => {
            const value = await work(transaction);
            // A transaction whose process died before the commit is rolled back.
            if (owner.isDead) throw new Error('the process is dead');
            return value;
          }),
        ).then((value) => {
          if (this.#random.chance(this.#trouble.rate / 4)) throw new Error('the response was lost');
          return value;
        });
      },
    };
  }

  #world(owner: Owner & { isDead: boolean }): World {
    return {
      now: () => this.#schedule.now,
      setTimer: (run, delayMs) => this.#schedule.push(owner, delayMs, run),
      afterTurn: (run) => void this.#schedule.push(owner, 0, run),
      random: () => this.#random.real(),
      uuid: () => this.#random.uuid(),
      failpoint: (name) => {
        this.#failpoints.add(name);
        if (this.#random.chance(this.#crashing.rate)) this.#crash(owner);
      },
    };
  }

  #blobStore(owner: Owner & { isDead: boolean }): BlobStore {
    return {
      put: (bytes) => {
        const key = createHash('sha256').update(bytes).digest('hex');
        if (!owner.isDead) this.#blobs.set(key, bytes);
        return this.#hear(owner, Promise.resolve(key));
      },
      get: async (key) => this.#blobs.get(key) ?? new Uint8Array(),
    };
  }
}

const allTasks = sql<BatchTaskRow>`SELECT * FROM batch_tasks ORDER BY id`;
const openTasks = sql<{ count: number }>`
  SELECT COUNT(*) AS count FROM batch_tasks WHERE state IN ('pending', 'in_progress')
    OR is_cancel_due = 1`;
