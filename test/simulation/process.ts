/**
 * A process of the simulated world: a real engine behind simulated ports. A crash may come between
 * any two awaits: from then on nothing it has started continues. Its commits stay.
 */
import { Engine } from '../../src/engine/engine.ts';
import type { Ledger } from '../../src/engine/item/ledger.ts';
import type { Liveness } from '../../src/engine/item/liveness.ts';
import type { World } from '../../src/kernel/world.ts';
import type { Pipeline } from '../../src/pipeline/pipeline.ts';
import type { Database } from '../../src/store/driver/database.ts';
import type { SimulatedBatches } from './batch-lane.ts';
import type { Faults } from './fault.ts';
import { gatedDatabase, gatedLedger, never } from './ports.ts';
import type { Random } from './random.ts';
import type { Recorder } from './recorder.ts';
import type { Owner, Schedule } from './schedule.ts';
import { type Host, worldOf } from './world.ts';

/** State that all processes of a run share. */
export interface Setting {
  readonly random: Random;
  readonly schedule: Schedule;
  readonly faults: Faults;
  readonly recorder: Recorder;
  readonly store: Database;
  /** Answers the requests of the batch lane; absent if the lane is not used. */
  readonly batches?: SimulatedBatches | undefined;
  /** Processes die all the time, and are restarted immediately. */
  readonly isDeadly: boolean;
  /** Builds the pipeline of a process, with its faults and its record of steps. */
  readonly pipelineOf: (process: SimulatedProcess) => Pipeline;
  /** The planted defect, between a process and its ports. */
  readonly plant: Plant;
  isAlive(host: string, pid: number, processStarted: string): boolean;
}

export interface Plant {
  readonly database?: (inner: Database, process: SimulatedProcess) => Database;
  readonly ledger?: (inner: Ledger) => Ledger;
  readonly pipeline?: (inner: Pipeline) => Pipeline;
}

export interface ProcessOptions {
  readonly setting: Setting;
  readonly host: Host;
  readonly pid: number;
  readonly processStarted: string;
  readonly places: number;
  readonly onDeath: (process: SimulatedProcess) => void;
}

const answerMsMax = 20;

export class SimulatedProcess implements Owner {
  readonly name: string;
  readonly setting: Setting;
  readonly host: Host;
  readonly pid: number;
  readonly processStarted: string;
  readonly commitsMax: number;
  /** The epoch of the last claim of each item. */
  readonly epochs = new Map<number, number>();
  readonly database: Database;
  readonly world: World;
  readonly engine: Engine;
  isDead = false;
  isStarted = false;
  isStopping = false;
  stalledUntil = 0;
  readonly #onDeath: ProcessOptions['onDeath'];

  constructor(options: ProcessOptions) {
    const { setting, host, pid } = options;
    this.setting = setting;
    this.host = host;
    this.pid = pid;
    this.processStarted = options.processStarted;
    this.name = `${host.name}/${pid}`;
    this.commitsMax = setting.random.pick([1, 2]);
    this.#onDeath = options.onDeath;
    const { plant } = setting;
    const gated = gatedDatabase(this, setting.store);
    this.database = plant.database?.(gated, this) ?? gated;
    this.world = worldOf({
      ...setting,
      owner: this,
      host,
      failpoint: (name) => this.#passFailpoint(name),
    });
    this.engine = new Engine({
      database: this.database,
      pipeline: setting.pipelineOf(this),
      world: this.world,
      liveness: this.#liveness(),
      workers: options.places,
      sweepItemsMax: setting.random.pick([1, 2, 500]),
      ledger: (own) => {
        const ledger = gatedLedger(this, own);
        return plant.ledger?.(ledger) ?? ledger;
      },
      onError: (what, error) => setting.recorder.tell(() => `${this.name} ${what}: ${error}`),
    });
  }

  now(): number {
    return this.setting.schedule.now + this.host.offsetMs;
  }

  start(): void {
    this.setting.recorder.tell(() => `${this.name} starts as ${this.engine.worker}`);
    this.engine.start().then(
      () => {
        this.isStarted = true;
        this.setting.batches?.run(this);
      },
      (error) => this.crash(`could not start: ${error}`),
    );
  }

  /** Ends as after SIGTERM, even if it cannot return its leases. */
  stop(): void {
    this.isStopping = true;
    const end = (): void => this.crash('stopped');
    this.engine.stop().then(end, end);
  }

  crash(why: string): void {
    if (this.isDead) return;
    this.isDead = true;
    this.setting.recorder.tell(() => `${this.name} ends: ${why}`);
    this.#onDeath(this);
  }

  /** Stalls, as under a debugger or in a stopped container, and continues later. */
  stall(forMs: number): void {
    this.stalledUntil = this.setting.schedule.now + forMs;
    this.setting.recorder.tell(() => `${this.name} stalls for ${forMs} ms`);
  }

  /** Delivers a response to the process: immediately or later; never after its death. */
  answer<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.#deliver(() => resolve(value)),
        (error) => this.#deliver(() => reject(error)),
      );
    });
  }

  /** Runs something after a delay, if the process is still alive. */
  after<T>(delayMs: number, work: () => Promise<T>): Promise<T> {
    if (this.isDead) return never();
    if (delayMs === 0) return work();
    return new Promise((resolve, reject) => {
      this.setting.schedule.push(this, delayMs, () => work().then(resolve, reject));
    });
  }

  #deliver(run: () => void): void {
    if (this.isDead) return;
    const { random, schedule } = this.setting;
    const isStalled = this.stalledUntil > schedule.now;
    if (!isStalled && random.chance(0.6)) run();
    else schedule.push(this, random.chance(0.5) ? 0 : random.whole(0, answerMsMax), run);
  }

  #passFailpoint(name: string): void {
    this.setting.recorder.failpoints.add(name);
    if (this.setting.faults.happens('crash_at_failpoint')) this.crash(`at ${name}`);
  }

  #liveness(): Liveness {
    const { host, pid, processStarted, setting } = this;
    return {
      host: host.name,
      pid,
      processStarted,
      isAlive: (other, started) => setting.isAlive(host.name, other, started),
    };
  }
}
