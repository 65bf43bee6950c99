/**
 * Measures the package as users get it: packs it, installs it into an empty project, and starts it
 * there. `npm run measure -- [--runs N]`. Time by the clock and of the processor, the
 * best of all runs: a busy machine adds to the first.
 */
import { spawnSync } from 'node:child_process';
import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from '../test/support/npm.ts';
import { parseOptions } from '../test/support/parse-options.ts';

const { values } = parseOptions({ options: { runs: { type: 'string', default: '10' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pawl-measure-'));
const project = join(folder, 'project');
const program = join(project, 'node_modules/pawl/bin/pawl');
const mebibyte = 1024 * 1024;

try {
  const report = npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  const [{ filename, size }] = JSON.parse(report) as [{ filename: string; size: number }];
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true }');
  const installed = timed(() => void npm(project, 'install', join(folder, filename)));
  row('tarball', `${(size / mebibyte).toFixed(1)} MiB`);
  row('npm install', `${(installed.wallMs / 1000).toFixed(1)} s`);
  const [bytes, blocks] = sizesOf(join(project, 'node_modules'));
  row('installed', `${bytes.toFixed(0)} MiB; ${blocks.toFixed(0)} MiB as du counts`);
  const samples = join(project, 'node_modules/pawl/samples');
  run(['ingest', samples, '--corpus', 'docs']);
  const runs = Number(values.runs);
  row('pawl --version', best(runs, ['--version']));
  row('pawl search', best(runs, ['search', 'docs', 'how long does a refund take']));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function row(what: string, measured: string): void {
  console.log(`${what.padEnd(16)}${measured}`);
}

function run(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: project,
    encoding: 'utf8',
    // The search uses the store of the project, and no settings of this shell.
    env: { PATH: process.env.PATH, HOME: folder },
  });
  if (status !== 0) throw new Error(`pawl ${args.join(' ')}: ${stderr}`);
}

function best(runs: number, args: readonly string[]): string {
  const all = Array.from({ length: runs }, () => timed(() => run(args)));
  const wall = Math.min(...all.map(({ wallMs }) => wallMs));
  const cpu = Math.min(...all.map(({ cpuMs }) => cpuMs));
  return `${wall.toFixed(0)} ms; ${cpu.toFixed(0)} ms of the processor; best of ${runs}`;
}

/** The processor time is that of the child processes that have ended meanwhile. */
function timed(work: () => void): { readonly wallMs: number; readonly cpuMs: number } {
  const before = childCpuMs();
  const startedAt = performance.now();
  work();
  return { wallMs: performance.now() - startedAt, cpuMs: childCpuMs() - before };
}

/** Of ended children, which Node does not report: Linux only. */
function childCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name in brackets, in hundredths of a second: `cutime` and `cstime`.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function sizesOf(path: string): readonly [bytes: number, blocks: number] {
  const all = globSync('**/*', { cwd: path }).map((name) => lstatSync(join(path, name)));
  const bytes = all.filter((each) => each.isFile()).reduce((sum, { size }) => sum + size, 0);
  const blocks = all.reduce((sum, each) => sum + (each.blocks ?? 0) * 512, 0);
  return [bytes / mebibyte, blocks / mebibyte];
}
