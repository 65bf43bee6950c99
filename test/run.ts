/**
 * Runs all suites, or with `npm test -- PATTERN…` the files whose path contains a pattern. With
 * `--loaded`, other processes use the CPU meanwhile, and the pages of browser tests are slow: a
 * test that depends on speed fails. The last line is `N passed, N failed`, with `, N skipped` if
 * some were.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { bundlePawl } from './support/bundle.ts';
import { givenSeed, randomSeed, seedVariable } from './support/first-seed.ts';
import { slowPagesVariable, startLoad } from './support/load.ts';
import { prepareMachine } from './support/machine.ts';
import { type FileResult, killTestFiles, runTestFile } from './support/test-file.ts';

interface Suite {
  readonly name: string;
  readonly files: readonly string[];
}

/** Two more than there are cores: many files wait for processes, timers and other servers. */
const concurrency = availableParallelism() + 2;
const loaded = '--loaded';
const slowestShown = 5;
const suiteNameWidth = 10;

/** Reported first and in this order; then every other folder of test/ that has tests. */
const suiteOrder = ['unit', 'contract', 'simulation', 'chaos', 'e2e'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
process.once('exit', killTestFiles);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const patterns = args.filter((argument) => argument !== loaded);
  const suites = findSuites(patterns);
  const seed = givenSeed() ?? randomSeed();
  process.env[seedVariable] = String(seed);
  console.log(`seeds begin at ${seed}; ${seedVariable}=${seed} runs the same ones again\n`);
  if (suites.length > 0) prepareMachine(console.log);
  const files = suites.flatMap((suite) => suite.files);
  if (files.some((file) => file.startsWith('test/'))) await bundlePawl();
  const isLoaded = args.includes(loaded);
  if (isLoaded) process.env[slowPagesVariable] = '1';
  const stopLoad = isLoaded ? startLoad() : undefined;
  // The last suites have the longest files. Started first, they leave short ones to fill the end.
  const results = await runFiles(suites.toReversed().flatMap(({ files }) => files));
  stopLoad?.();
  console.log();
  for (const { name, files } of suites) {
    const own = results.filter(({ file }) => files.includes(file));
    console.log(`  ${name.padEnd(suiteNameWidth)} ${totalLine(own)}`);
  }
  console.log();
  printSlowest(results);
  printSkipped(results);
  printFailed(results);
  const { passed, failed } = total(results);
  if (results.length === 0) console.log(`No test file matches ${patterns.join(' ')}`);
  console.log(totalLine(results));
  return failed > 0 || passed === 0 ? 1 : 0;
}

function findSuites(patterns: readonly string[]): Suite[] {
  const byName = new Map<string, string[]>(suiteOrder.map((name) => [name, []]));
  for (const file of globSync([
    'src/**/*.test.ts',
    'bench/*/*.test.ts',
    'scripts/*.test.ts',
    'web/**/*.test.ts',
    'test/**/*.test.ts',
  ]).sort()) {
    if (patterns.length > 0 && !patterns.some((pattern) => file.includes(pattern))) continue;
    const name = /^test\/([^/]+)\//.exec(file)?.[1] ?? 'unit';
    byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  return [...byName]
    .map(([name, files]) => ({ name, files }))
    .filter((suite) => suite.files.length > 0);
}

/** One queue of files for all suites: no core waits for the last file of a suite. */
async function runFiles(files: readonly string[]): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const waiting = [...files];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runTestFile(file);
      printFile(result);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

function printFile(result: FileResult): void {
  const isOk = result.failures.length === 0;
  const verdict = isOk ? styleText('green', 'ok    ') : styleText('red', 'failed');
  const count = String(result.passed).padStart(5);
  const time = seconds(result.durationMs).padStart(8);
  const cpu = cpuOf([result]).padStart(9);
  console.log(`  ${verdict}${count} ${time}${cpu}  ${result.file}`);
  if (isOk) return;
  printFailures(result);
  if (result.output.trim() !== '') console.log(indent(`output:\n${indent(result.output.trim())}`));
}

function printFailures({ failures }: FileResult): void {
  for (const { name, detail } of failures) {
    if (detail !== '') console.log(indent(`${styleText('red', name)}\n${indent(detail)}`));
  }
}

/** Again, and last: a log is often read, or kept, only from its end. */
function printFailed(results: readonly FileResult[]): void {
  const failed = results.filter(({ failures }) => failures.length > 0);
  if (failed.length === 0) return;
  console.log('failed');
  for (const result of failed) {
    console.log(`  ${result.file}`);
    printFailures(result);
  }
  console.log();
}

function printSlowest(results: readonly FileResult[]): void {
  if (results.length <= 1) return;
  printFirst('slowest', results, ({ durationMs }) => durationMs);
  printFirst('most CPU', results, ({ cpuSeconds = 0 }) => 1000 * cpuSeconds);
  console.log(`CPU of all files: ${cpuOf(results)}`);
  console.log();
}

function printFirst(
  title: string,
  results: readonly FileResult[],
  msOf: (result: FileResult) => number,
): void {
  console.log(title);
  for (const result of results.toSorted((a, b) => msOf(b) - msOf(a)).slice(0, slowestShown)) {
    console.log(`  ${seconds(msOf(result)).padStart(8)}  ${result.file}`);
  }
  console.log();
}

function printSkipped(results: readonly FileResult[]): void {
  const counts = new Map<string, number>();
  for (const reason of results.flatMap(({ skipped }) => skipped)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  console.log('skipped');
  for (const [reason, count] of counts) console.log(`  ${String(count).padStart(8)}  ${reason}`);
  console.log();
}

function total(results: readonly FileResult[]) {
  const sum = (count: (result: FileResult) => number) =>
    results.reduce((accumulated, result) => accumulated + count(result), 0);
  return {
    passed: sum((result) => result.passed),
    failed: sum((result) => result.failures.length),
    skipped: sum((result) => result.skipped.length),
  };
}

function totalLine(results: readonly FileResult[]): string {
  const { passed, failed, skipped } = total(results);
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Unlike the time, it says what a file costs on a busy machine, too. */
function cpuOf(results: readonly FileResult[]): string {
  return seconds(1000 * results.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0));
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(2)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
