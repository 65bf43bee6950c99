/**
 * From what one document costs to how much of everything is needed. Two views of the same plan: how
 * long work waits at a steady rate (Erlang's formula), and what piles up over a day that is not
 * steady (a flow, minute by minute). Nothing here is random: the same input gives the same answer.
 */
import type { Cost } from './measured.ts';

export interface Component {
  readonly name: string;
  readonly costs: readonly Cost[];
  /** How often each of the costs falls due for a document; once if nothing is said. */
  readonly times?: number;
  /** One process, and one core of it, is all that can work on it: a Redis, for instance. */
  readonly isSingle?: boolean;
}

export interface Machine {
  readonly cores: number;
  /** The share of a core's time that is planned for: the rest is for bursts, deploys and deaths. */
  readonly loadMax: number;
}

export interface Need {
  readonly name: string;
  readonly evidence: Cost['evidence'];
  readonly millisPerDocument: number;
  /** Cores at the peak, with room. */
  readonly cores: number;
  readonly machines: number;
  /** Of those cores, at the peak. */
  readonly load: number;
  /** How long a document waits at the peak before its work begins, on average. */
  readonly waitMs: number;
  /** Documents a second at which one machine has nothing left. */
  readonly machineRateMax: number;
}

export function needOf(component: Component, rate: number, machine: Machine): Need {
  const { name, costs, times = 1, isSingle = false } = component;
  const seconds = (costs.reduce((sum, { micros }) => sum + micros, 0) * times) / 1e6;
  const offered = rate * seconds;
  const own = isSingle ? 1 : machine.cores;
  const cores = Math.max(1, Math.ceil(offered / machine.loadMax));
  return {
    name,
    evidence: costs.some(({ evidence }) => evidence === 'assumed') ? 'assumed' : 'measured',
    millisPerDocument: seconds * 1000,
    cores,
    machines: Math.ceil(cores / own),
    load: offered / cores,
    waitMs: (waitingShare(cores, offered) * seconds * 1000) / (cores - offered),
    machineRateMax: own / seconds,
  };
}

/**
 * Erlang's C: the share of arrivals that find all servers busy. By the recursion of his B formula,
 * which does not overflow for thousands of servers.
 */
export function waitingShare(servers: number, offered: number): number {
  if (offered >= servers) return 1;
  let blocked = 1;
  for (let count = 1; count <= servers; count += 1) {
    blocked = (offered * blocked) / (count + offered * blocked);
  }
  const load = offered / servers;
  return blocked / (1 - load + load * blocked);
}

/** Of a day: the share of its documents that comes in each hour. Sums to 1. */
export type Curve = readonly number[];

export const flatDay: Curve = Array.from({ length: 24 }, () => 1 / 24);

/** Quiet at night, and at noon so many times as much as on average: from 1 to 2. */
export function busyDay(peak: number): Curve {
  if (peak < 1 || peak > 2)
    throw new Error(`a peak of ${peak} would need a night of less than none`);
  const wave = Array.from({ length: 24 }, (_, hour) => Math.cos(((hour - 12) / 12) * Math.PI));
  return wave.map((height) => (1 + (peak - 1) * height) / 24);
}

export interface Stage {
  readonly name: string;
  /** Documents a second that it can do. */
  readonly capacity: number;
  /** The hours of the day in which it does nothing. */
  readonly away?: { readonly from: number; readonly to: number };
}

export interface StageDay {
  readonly name: string;
  readonly backlogMax: number;
  /** The hour after which nothing waited any more; 0 if nothing ever did, 24 if something does. */
  readonly emptyAtHour: number;
  readonly leftOver: number;
}

const minutes = 24 * 60;

/** A day in steps of a minute: what a stage does is what comes in at the next. */
export function flowOfDay(
  stages: readonly Stage[],
  { documents, curve }: { readonly documents: number; readonly curve: Curve },
): StageDay[] {
  const backlogs = stages.map(() => 0);
  const most = stages.map(() => 0);
  const lastBusy = stages.map(() => 0);
  for (let minute = 0; minute < minutes; minute += 1) {
    let incoming = (documents * (curve[Math.floor(minute / 60)] ?? 0)) / 60;
    for (const [index, stage] of stages.entries()) {
      const waiting = (backlogs[index] ?? 0) + incoming;
      const done = Math.min(waiting, capacityAt(stage, minute) * 60);
      backlogs[index] = waiting - done;
      most[index] = Math.max(most[index] ?? 0, waiting - done);
      if (waiting - done > 0) lastBusy[index] = minute + 1;
      incoming = done;
    }
  }
  return stages.map(({ name }, index) => ({
    name,
    backlogMax: Math.round(most[index] ?? 0),
    emptyAtHour: (lastBusy[index] ?? 0) / 60,
    leftOver: Math.round(backlogs[index] ?? 0),
  }));
}

function capacityAt({ capacity, away }: Stage, minute: number): number {
  const isAway = away !== undefined && minute >= away.from * 60 && minute < away.to * 60;
  return isAway ? 0 : capacity;
}
