/** The workload of every queue: add many jobs, then process them; and start a single one. */
import { setTimeout as pause } from 'node:timers/promises';
import { noiseOf, type Reading, rate, spread } from './reading.ts';
import { measured, together } from './usage.ts';

export interface QueueWork {
  readonly jobs: number;
  readonly serverPid: number | undefined;
  /** Settings that a reader needs to judge the figures. */
  readonly note: string;
  enqueue(): Promise<void>;
  /** Between the two, not timed: new statistics for the planner. */
  settle?(): Promise<void>;
  /** Resolves when the last job is stored as completed. */
  process(): Promise<void>;
}

export async function measureQueue(work: QueueWork): Promise<Reading[]> {
  const { jobs, serverPid, note } = work;
  const enqueued = await measured(() => work.enqueue(), serverPid);
  await work.settle?.();
  const processed = await measured(() => work.process(), serverPid);
  return [
    rate('enqueued', jobs, enqueued),
    rate('processed', jobs, processed, note),
    rate('both', jobs, together(enqueued, processed)),
  ];
}

/** Pause between two single jobs, so that the engine is idle again. */
const idleMs = 2;
const warmUps = 20;

/** Adds jobs one at a time; `add` calls back when the job's function is called. */
export async function measureBegun(
  { jobs, serverPid }: Pick<QueueWork, 'jobs' | 'serverPid'>,
  add: (onBegun: () => void) => Promise<unknown>,
): Promise<Reading> {
  const times: number[] = [];
  const usage = await measured(async () => {
    for (let index = 0; index < warmUps + jobs; index++) {
      const { promise, resolve } = Promise.withResolvers<number>();
      const startedAt = performance.now();
      await add(() => resolve(performance.now()));
      times.push((await promise) - startedAt);
      await pause(idleMs);
    }
  }, serverPid);
  return spread('begun', times.slice(warmUps), noiseOf(usage));
}
