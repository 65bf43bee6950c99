/**
 * One run: people, processes and faults for a while; then the faults stop, and everything accepted
 * must end within a bounded time. Only the code under test is real.
 */
import { newestSequence } from '../../src/store/delivery/events.ts';
import { sql } from '../../src/store/driver/statement.ts';
import { checkAlways } from './always.ts';
import { SimulatedBatches } from './batch-lane.ts';
import { allItems, readEvidence } from './evidence.ts';
import { type FaultCounts, Faults } from './fault.ts';
import { Fleet } from './fleet.ts';
import { final, isBlamed } from './invariants.ts';
import type { Plant, Setting } from './process.ts';
import { Random } from './random.ts';
import { SimulatedReader } from './reader.ts';
import { Recorder, type Violation } from './recorder.ts';
import { nobody, Schedule } from './schedule.ts';
import { loadSteps, simulatedPipeline } from './steps.ts';
import type { SimulatedStore } from './store.ts';
import { User } from './user.ts';

export interface RunOptions {
  readonly seed: number;
  readonly store: SimulatedStore;
  readonly plant?: Plant | undefined;
  readonly isTracing?: boolean | undefined;
  /** Most jobs use the batch lane. */
  readonly isCheap?: boolean | undefined;
  /** Processes die all the time, and some documents kill. */
  readonly isDeadly?: boolean | undefined;
}

export interface RunResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly faults: FaultCounts;
  readonly failpoints: ReadonlySet<string>;
  readonly lines: readonly string[];
  readonly turns: number;
  readonly items: number;
  readonly stepsInvoked: number;
  readonly zombieSteps: number;
  readonly refusedReports: number;
  readonly reads: number;
  /** How often a suspect was claimed to run alone, and how many were blamed in the end. */
  readonly suspectsClaimed: number;
  readonly blamed: number;
}

const startAt = 1_700_000_000_000;
/** From the last fault to the last end. */
const recoveryMsMax = 6 * 3_600_000;
const turnsMax = 300_000;

export function runSeed(options: RunOptions): Promise<RunResult> {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: RunOptions;
  readonly #random: Random;
  readonly #schedule: Schedule;
  readonly #recorder: Recorder;
  readonly #faults: Faults;
  readonly #setting: Setting;
  readonly #fleet: Fleet;
  readonly #user: User;
  readonly #reader: SimulatedReader;
  #healedAt = Number.POSITIVE_INFINITY;
  #isOver = false;
  #lastSequence = -1;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#schedule = new Schedule(this.#random, startAt);
    this.#recorder = new Recorder(options.isTracing ?? false, () => this.#schedule.now - startAt);
    this.#faults = new Faults(this.#random, options.isDeadly);
    this.#setting = {
      random: this.#random,
      schedule: this.#schedule,
      faults: this.#faults,
      recorder: this.#recorder,
      store: options.store.database,
      batches: options.isCheap ? new SimulatedBatches(this.#random, this.#schedule) : undefined,
      isDeadly: options.isDeadly ?? false,
      pipelineOf: simulatedPipeline,
      plant: options.plant ?? {},
      isAlive: (host, pid, started) => this.#fleet.isAlive(host, pid, started),
    };
    this.#fleet = new Fleet(this.#setting);
    this.#user = new User({
      setting: this.#setting,
      reach: () => this.#fleet.reach(),
      places: this.#random.whole(1, 5),
    });
    this.#reader = new SimulatedReader(this.#setting);
  }

  async run(): Promise<RunResult> {
    await loadSteps();
    await this.#options.store.reset(this.#schedule);
    const onRejection = (error: unknown): void => {
      this.#recorder.violate('nothingIsThrownAtNobody', String(error));
    };
    process.on('unhandledRejection', onRejection);
    try {
      this.#begin();
      await this.#schedule.run(() => this.#isOver);
      await this.#judge();
    } catch (error) {
      this.#recorder.violate('nothingIsThrownAtNobody', String((error as Error).stack ?? error));
    } finally {
      process.off('unhandledRejection', onRejection);
    }
    await this.#drain();
    return this.#result();
  }

  #begin(): void {
    this.#fleet.start(this.#random.whole(1, 3));
    const userGapMs = this.#random.pick([500, 2_000, 6_000]);
    this.#every(userGapMs, () => void this.#user.act());
    this.#every(this.#random.pick([1_000, 4_000]), () => this.#fleet.trouble());
    this.#every(5_000, () => void this.#look(), true);
    this.#schedule.push(nobody, this.#random.whole(5_000, 60_000), () => this.#heal());
  }

  /** Repeatedly, at random times; until the faults stop, or until the end. */
  #every(gapMs: number, act: () => void, isLasting = false): void {
    const next = (): void => {
      this.#schedule.push(nobody, this.#random.whole(1, 2 * gapMs), () => {
        if (this.#isOver || (this.#healedAt <= this.#schedule.now && !isLasting)) return;
        act();
        next();
      });
    };
    next();
  }

  #heal(): void {
    this.#recorder.tell(() => 'the faults stop');
    this.#healedAt = this.#schedule.now;
    this.#faults.stop();
    this.#fleet.heal();
  }

  /** Checks the store between two commits, and whether everything has ended. */
  async #look(): Promise<void> {
    if (await this.#isAnythingNew()) await this.#checkAlways();
    if (this.#recorder.violations.length > 0) this.#isOver = true;
    if (this.#healedAt <= this.#schedule.now) await this.#lookForTheEnd();
  }

  async #isAnythingNew(): Promise<boolean> {
    const last = this.#lastSequence;
    this.#lastSequence = await newestSequence(this.#setting.store);
    return this.#lastSequence !== last;
  }

  async #checkAlways(): Promise<void> {
    await checkAlways(this.#setting.store, this.#recorder);
    await this.#reader.look();
  }

  async #lookForTheEnd(): Promise<void> {
    const { store } = this.#setting;
    await this.#user.resumeAll();
    const [open] = await store.run(openItems);
    if (open?.count === 0) {
      this.#isOver = !this.#fleet.isAnyStalled();
      return;
    }
    const isLate = this.#schedule.now - this.#healedAt > recoveryMsMax;
    if (isLate || this.#schedule.turns > turnsMax) {
      this.#recorder.violate('everythingEndsInTime', `${open?.count} items are still open`);
      this.#isOver = true;
    }
    // Nothing is ready for a while: time passes for the machines, and the run continues.
    if (!open || open.ready > 0 || open.leased > 0 || this.#fleet.isAnyStalled()) return;
    this.#schedule.now = Math.max(this.#schedule.now, open.due_at ?? 0);
  }

  async #judge(): Promise<void> {
    const isBroken = (): boolean => this.#recorder.violations.length > 0;
    if (!isBroken()) await this.#checkAlways();
    // An earlier violation is reported on its own; its consequences would only hide it.
    if (isBroken()) return;
    const evidence = await readEvidence(this.#setting.store, this.#recorder);
    for (const [name, invariant] of Object.entries(final)) {
      for (const detail of invariant(evidence)) this.#recorder.violate(name, detail);
    }
  }

  /** Nothing of this run may touch the store when the next one uses it. */
  async #drain(): Promise<void> {
    this.#isOver = true;
    this.#fleet.end();
    await this.#schedule.run(() => false);
  }

  async #result(): Promise<RunResult> {
    const { violations, failpoints, lines, stepsInvoked, zombieSteps, refusedReports, reads } =
      this.#recorder;
    const { suspectsClaimed } = this.#recorder;
    const items = await this.#setting.store.run(allItems);
    return {
      seed: this.#options.seed,
      violations,
      faults: this.#faults.counts,
      failpoints,
      lines,
      turns: this.#schedule.turns,
      items: items.length,
      stepsInvoked,
      zombieSteps,
      refusedReports,
      reads,
      suspectsClaimed,
      blamed: items.filter(isBlamed).length,
    };
  }
}

const openItems = sql<{ count: number; ready: number; leased: number; due_at: number | null }>`
  SELECT COUNT(*) + (SELECT COUNT(*) FROM jobs WHERE sweep IS NOT NULL) AS count,
    COALESCE(MIN(due_at), (
      SELECT MIN(next_at) FROM batch_tasks WHERE state IN ('pending', 'in_progress'))) AS due_at,
    COALESCE(SUM(waits_on = 'turn'), 0) AS ready,
    COALESCE(SUM(waits_on = 'worker'), 0) AS leased
  FROM items WHERE waits_on IS NOT NULL`;
