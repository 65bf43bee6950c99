/** Runs seed after seed of the batch task scenario. */
import { openStore } from './store.ts';
import { runTaskSeed, type TaskRun, type TaskRunOptions } from './task-simulation.ts';

export interface TaskBatch {
  readonly failed: TaskRun[];
  readonly failpoints: Set<string>;
  tasks: number;
  crashes: number;
  seedsRun: number;
}

export async function runTaskSeeds(options: {
  readonly firstSeed: number;
  readonly seeds: number;
  /** Continues after those until this returns true, up to a number of seeds. */
  readonly more?: { readonly until: (batch: TaskBatch) => boolean; readonly seedsMax: number };
  readonly violationsMax: number;
  readonly plant?: TaskRunOptions['plant'];
  readonly onRun?: (run: TaskRun) => void;
}): Promise<TaskBatch> {
  const store = await openStore();
  const batch: TaskBatch = { failed: [], failpoints: new Set(), tasks: 0, crashes: 0, seedsRun: 0 };
  const isEnough = (): boolean => options.more?.until(batch) ?? true;
  const seedsMax = options.more?.seedsMax ?? options.seeds;
  for (let index = 0; index < seedsMax; index += 1) {
    if (index >= options.seeds && isEnough()) break;
    const seed = options.firstSeed + index;
    const run = await runTaskSeed({ seed, store, plant: options.plant });
    batch.seedsRun += 1;
    batch.tasks += run.tasks;
    batch.crashes += run.crashes;
    for (const name of run.failpoints) batch.failpoints.add(name);
    if (run.violations.length > 0) batch.failed.push(run);
    options.onRun?.(run);
    if (batch.failed.length >= options.violationsMax) break;
  }
  await store.database.close();
  return batch;
}
