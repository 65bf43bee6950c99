/**
 * The processes of the simulated world: which live, which died, and when they are started again.
 */

import { type Setting, SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import { nobody } from './schedule.ts';
import type { Host } from './world.ts';

const restartMsMax = 15_000;
const stallMsMax = 200_000;
const clockJumpsMs = [-3_600_000, -100_000, -5_000, 5_000, 50_000, 100_000, 1_000_000, 7_200_000];
const suspendMsMax = 200_000;

export class Fleet {
  readonly #setting: Setting;
  readonly #random: Random;
  readonly #hosts: readonly Host[];
  readonly #all: SimulatedProcess[] = [];
  readonly #places: number;
  #pid = 100;
  #isOver = false;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#random = setting.random;
    const hosts = setting.random.pick([1, 1, 2]);
    this.#hosts = Array.from({ length: hosts }, (_, index) => ({
      name: `host-${index}`,
      offsetMs: 0,
    }));
    this.#places = setting.random.pick([1, 2, 4, 8]);
  }

  start(count: number): void {
    for (let index = 0; index < count; index++) {
      this.#launch(this.#hosts[index % this.#hosts.length] as Host);
    }
  }

  isAlive(host: string, pid: number, processStarted: string): boolean {
    return this.alive().some(
      (process) =>
        process.host.name === host &&
        process.pid === pid &&
        process.processStarted === processStarted,
    );
  }

  alive(): SimulatedProcess[] {
    return this.#all.filter(({ isDead }) => !isDead);
  }

  reach(): SimulatedProcess | undefined {
    const { now } = this.#setting.schedule;
    const up = this.alive().filter(
      (process) => process.isStarted && !process.isStopping && process.stalledUntil <= now,
    );
    return up.length === 0 ? undefined : this.#random.pick(up);
  }

  isAnyStalled(): boolean {
    const { now } = this.#setting.schedule;
    return this.alive().some(({ stalledUntil }) => stalledUntil > now);
  }

  /** At most one fault, to a random process. */
  trouble(): void {
    const { faults, recorder, schedule } = this.#setting;
    const alive = this.alive();
    if (alive.length === 0) return;
    const victim = this.#random.pick(alive);
    if (faults.happens('crash_at_any_time')) victim.crash('killed');
    if (faults.happens('graceful_restart') && victim.isStarted) victim.stop();
    if (faults.happens('stall')) victim.stall(this.#random.whole(1_000, stallMsMax));
    if (faults.happens('suspend_all')) schedule.now += this.#random.whole(1_000, suspendMsMax);
    if (faults.happens('clock_jump')) {
      victim.host.offsetMs = this.#random.pick(clockJumpsMs);
      recorder.tell(() => `the clock of ${victim.host.name} is off by ${victim.host.offsetMs} ms`);
    }
  }

  /** Corrects all clocks; stalled processes still wake in their own time. */
  heal(): void {
    for (const host of this.#hosts) host.offsetMs = 0;
  }

  /** Ends all processes permanently. */
  end(): void {
    this.#isOver = true;
    for (const process of this.alive()) process.crash('the run is over');
  }

  #launch(host: Host): void {
    const { random, schedule } = { random: this.#random, schedule: this.#setting.schedule };
    // Sometimes a pid is reused: only the start time distinguishes the two.
    const pid = random.chance(0.3) ? this.#pid : ++this.#pid;
    const isTaken = this.alive().some((other) => other.host === host && other.pid === pid);
    const process = new SimulatedProcess({
      setting: this.#setting,
      host,
      pid: isTaken ? ++this.#pid : pid,
      processStarted: String(schedule.turns),
      places: this.#places,
      onDeath: (dead) => this.#relaunch(dead),
    });
    this.#all.push(process);
    process.start();
  }

  #relaunch(dead: SimulatedProcess): void {
    if (this.#isOver) return;
    const isSoon = this.#setting.isDeadly || this.#random.chance(0.5);
    const delayMs = isSoon ? 100 : this.#random.whole(1, restartMsMax);
    this.#setting.schedule.push(nobody, delayMs, () => {
      if (!this.#isOver) this.#launch(dead.host);
    });
  }
}
