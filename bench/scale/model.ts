/**
 * From the cost of one document to the required resources. Two views of the same plan: the waiting
 * time at a steady rate (Erlang's formula), and the backlog over a day that is not steady (a flow,
 * minute by minute). Deterministic.
 */
import type { Cost } from './measured.ts';

export interface Component {
  readonly name: string;
  readonly costs: readonly Cost[];
  /** How often each cost occurs per document; once if absent. */
  readonly times?: number;
  /** Only one core of one process can work on it: a Redis, for instance. */
  readonly isSingle?: boolean;
}

export interface Machine {
  readonly cores: number;
  /** The planned share of a core's time: the rest is for bursts, deploys and failures. */
  readonly loadMax: number;
}

export interface Need {
  readonly name: string;
  readonly evidence: Cost['evidence'];
  readonly millisPerDocument: number;
  /** Cores at the peak, with reserve. */
  readonly cores: number;
  readonly machines: number;
  /** The load of those cores at the peak. */
  readonly load: number;
  /** The average wait of a document at the peak. */
  readonly waitMs: number;
  /** Documents per second that saturate one machine. */
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
 * Erlang C: the share of arrivals that find all servers busy. Computed by the recursion of Erlang
 * B, which does not overflow for thousands of servers.
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

/** The share of a day's documents in each hour. Sums to 1. */
export type Curve = readonly number[];

export const flatDay: Curve = Array.from({ length: 24 }, () => 1 / 24);

/** Quiet at night, and at noon `peak` times the average: from 1 to 2. */
export function busyDay(peak: number): Curve {
  if (peak < 1 || peak > 2)
    throw new Error(`a peak of ${peak} would need a night of less than none`);
  const wave = Array.from({ length: 24 }, (_, hour) => Math.cos(((hour - 12) / 12) * Math.PI));
  return wave.map((height) => (1 + (peak - 1) * height) / 24);
}

export interface Stage {
  readonly name: string;
  /** Documents per second that it can process. */
  readonly capacity: number;
  /** The hours of the day in which it is down. */
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

/** A day in steps of a minute: the output of a stage is the input of the next. */
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
