/**
 * The simulation as a command: `npm run simulate -- --seeds N [--seed S] [--scenario NAME]`. With
 * one seed it prints the whole log of that run. The last line is `N seeds, V violations`. The
 * scenarios are `documents` (the default), `cheap` (the same, mostly in the batch lane), `deadly`
 * (processes die all the time, and some documents kill), `services` (steps have slots at services)
 * and `batch`.
 */
import { parseOptions } from '../support/parse-options.ts';
import { runBatch } from './batch.ts';
import { withServiceSlots } from './service-slots.ts';
import { type RunResult, runSeed } from './simulation.ts';
import { openStore } from './store.ts';
import { runTaskSeeds } from './task-batch.ts';

const failuresMax = 5;
const excerptLines = 25;
const progressMs = 5_000;

const { values } = parseOptions({
  options: {
    seeds: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    scenario: { type: 'string', default: 'documents' },
  },
});
const seeds = wholeNumber('--seeds', values.seeds);
const firstSeed = wholeNumber('--seed', values.seed);
const scenarios: Readonly<Record<string, () => Promise<number>>> = {
  documents: () => (seeds === 1 ? replay(firstSeed) : runAll()),
  cheap: () => (seeds === 1 ? replay(firstSeed) : runAll()),
  deadly: () => (seeds === 1 ? replay(firstSeed) : runAll()),
  services: () => (seeds === 1 ? replay(firstSeed) : runAll()),
  batch: runTasks,
};
const isCheap = values.scenario === 'cheap';
const isDeadly = values.scenario === 'deadly';
const plant = values.scenario === 'services' ? withServiceSlots() : undefined;
const scenario = scenarios[values.scenario];
if (!scenario) {
  console.error(`--scenario takes one of ${Object.keys(scenarios).join(', ')}`);
  process.exit(2);
}
process.exitCode = await scenario();

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`${name} takes a whole number above 0, not ${text}`);
  process.exit(2);
}

async function replay(seed: number): Promise<number> {
  const store = await openStore();
  const result = await runSeed({ seed, store, isTracing: true, isCheap, isDeadly, plant });
  console.log(result.lines.join('\n'));
  console.log(`seed ${seed}: ${result.items} items, ${result.turns} turns`);
  for (const { invariant, detail } of result.violations) console.log(`${invariant}: ${detail}`);
  console.log(lastLine(1, result.violations.length > 0 ? 1 : 0));
  return result.violations.length > 0 ? 1 : 0;
}

async function runAll(): Promise<number> {
  let toldAt = performance.now();
  const failed: RunResult[] = [];
  const batch = await runBatch({
    firstSeed,
    seeds,
    ...{ isCheap, isDeadly, plant },
    violationsMax: failuresMax,
    onRun: (result, { seedsRun, seedsPerSecond }) => {
      if (result.violations.length > 0) {
        failed.push(result);
        console.log(`seed ${result.seed}: ${result.violations[0]?.invariant}`);
      }
      if (performance.now() - toldAt < progressMs) return;
      toldAt = performance.now();
      console.log(`${seedsRun} of ${seeds} seeds, ${seedsPerSecond.toFixed(1)} seeds/s`);
    },
  });
  for (const result of failed) await explain(result);
  for (const [kind, count] of Object.entries(batch.faults)) {
    console.log(`${String(count).padStart(8)} ${kind}`);
  }
  for (const [name, count] of Object.entries(batch.totals)) {
    console.log(`${String(count).padStart(8)} ${name}`);
  }
  console.log(`${batch.seedsRun} seeds at ${batch.seedsPerSecond.toFixed(1)} seeds/s`);
  console.log(lastLine(batch.seedsRun, failed.length));
  return failed.length > 0 ? 1 : 0;
}

async function runTasks(): Promise<number> {
  const startedAt = performance.now();
  const batch = await runTaskSeeds({ firstSeed, seeds, violationsMax: failuresMax });
  for (const { seed, violations } of batch.failed) {
    console.log(`seed ${seed}:`);
    for (const violation of violations) console.log(`  ${violation}`);
    console.log(`  to replay: npm run simulate -- --scenario batch --seeds 1 --seed ${seed}`);
  }
  const perSecond = (batch.seedsRun * 1000) / (performance.now() - startedAt);
  console.log(`${batch.tasks} tasks, ${batch.crashes} crashes, ${perSecond.toFixed(1)} seeds/s`);
  console.log(lastLine(batch.seedsRun, batch.failed.length));
  return batch.failed.length > 0 ? 1 : 0;
}

/** Runs the seed again, with its log. */
async function explain({ seed, violations }: RunResult): Promise<void> {
  const store = await openStore();
  const { lines } = await runSeed({ seed, store, isTracing: true, isCheap, isDeadly, plant });
  const first = lines.findIndex((line) => line.includes('VIOLATION'));
  console.log(`\nseed ${seed}:`);
  for (const { invariant, detail } of violations) console.log(`  ${invariant}: ${detail}`);
  console.log('  before it:');
  const excerpt = lines.slice(Math.max(0, first - excerptLines), first + 1);
  for (const line of excerpt) console.log(`    ${line}`);
  const named = isCheap || isDeadly || plant ? `--scenario ${values.scenario} ` : '';
  console.log(`  to replay: npm run simulate -- ${named}--seeds 1 --seed ${seed}\n`);
}

function lastLine(count: number, violations: number): string {
  return `${count} seeds, ${violations} violations`;
}
