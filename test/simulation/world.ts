/** The world as one simulated process sees it: its host's clock, its timers, its end of turn. */
import type { World } from '../../src/kernel/world.ts';
import type { Faults } from './fault.ts';
import type { Random } from './random.ts';
import type { Owner, Schedule } from './schedule.ts';

/** The processes of a host share its clock, and can see each other die. */
export interface Host {
  readonly name: string;
  offsetMs: number;
}

export interface WorldOptions {
  readonly owner: Owner;
  readonly host: Host;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly failpoint: (name: string) => void;
}

const lateMsMax = 20_000;

export function worldOf(options: WorldOptions): World {
  const { owner, host, schedule, random, faults, failpoint } = options;
  const push = (delayMs: number, run: () => void): (() => void) =>
    owner.isDead ? () => undefined : schedule.push(owner, delayMs, run);
  return {
    now: () => schedule.now + host.offsetMs,
    setTimer: (run, delayMs) => {
      const lateMs = faults.happens('timer_late') ? random.whole(1, lateMsMax) : 0;
      return push(delayMs + lateMs, run);
    },
    afterTurn: (run) => void push(0, run),
    random: () => random.real(),
    uuid: () => random.uuid(),
    failpoint,
  };
}
