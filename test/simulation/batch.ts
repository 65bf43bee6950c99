/** Runs seed after seed, and sums up the results. */
import { type FaultCounts, faultKinds, noFaults } from './fault.ts';
import type { Plant } from './process.ts';
import { type RunResult, runSeed } from './simulation.ts';
import { openStore } from './store.ts';

export interface BatchOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  /** Continues after those until this returns true, up to a number of seeds. */
  readonly more?: { readonly until: (batch: BatchResult) => boolean; readonly seedsMax: number };
  /** Stops after this many runs with a violation. */
  readonly violationsMax: number;
  readonly plant?: Plant | undefined;
  readonly isCheap?: boolean | undefined;
  readonly isDeadly?: boolean | undefined;
  readonly onRun?: ((result: RunResult, batch: BatchResult) => void) | undefined;
}

export interface BatchResult {
  readonly failed: RunResult[];
  readonly faults: FaultCounts;
  readonly failpoints: Set<string>;
  readonly totals: Record<Total, number>;
  seedsRun: number;
  seedsPerSecond: number;
}

const totalNames = [
  'turns',
  'items',
  'stepsInvoked',
  'zombieSteps',
  'refusedReports',
  'reads',
  'suspectsClaimed',
  'blamed',
] as const;
type Total = (typeof totalNames)[number];

export async function runBatch(options: BatchOptions): Promise<BatchResult> {
  const store = await openStore();
  const batch: BatchResult = {
    failed: [],
    faults: noFaults(),
    failpoints: new Set(),
    totals: Object.fromEntries(totalNames.map((name) => [name, 0])) as Record<Total, number>,
    seedsRun: 0,
    seedsPerSecond: 0,
  };
  const startedAt = performance.now();
  const isEnough = (): boolean => options.more?.until(batch) ?? true;
  const seedsMax = options.more?.seedsMax ?? options.seeds;
  for (let index = 0; index < seedsMax; index++) {
    if (index >= options.seeds && isEnough()) break;
    const { plant, isCheap, isDeadly } = options;
    const seed = options.firstSeed + index;
    const result = await runSeed({ seed, store, plant, isCheap, isDeadly });
    add(batch, result);
    batch.seedsPerSecond = (batch.seedsRun * 1000) / (performance.now() - startedAt);
    options.onRun?.(result, batch);
    if (batch.failed.length >= options.violationsMax) break;
  }
  await store.database.close();
  return batch;
}

function add(batch: BatchResult, result: RunResult): void {
  batch.seedsRun++;
  if (result.violations.length > 0) batch.failed.push(result);
  for (const kind of faultKinds) batch.faults[kind] += result.faults[kind];
  for (const name of totalNames) batch.totals[name] += result[name];
  for (const name of result.failpoints) batch.failpoints.add(name);
}

/** The violations, each with the command that replays it. */
export function replaysOf({ failed }: BatchResult, scenario = 'documents'): string[] {
  return failed.flatMap(({ seed, violations }) =>
    violations.map(({ invariant, detail }) => {
      const command = `npm run simulate -- --scenario ${scenario} --seeds 1 --seed ${seed}`;
      return `${command}: ${invariant}: ${detail}`;
    }),
  );
}
