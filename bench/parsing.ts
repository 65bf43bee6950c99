/**
 * What it costs to parse in processes that can be killed: HTML pages here, through one process, and
 * through one for each core. Processor time counts all processes, so a busy machine does not blur
 * it as it blurs pages per second.
 *
 *   node bench/parsing.ts FOLDER-OF-HTML [ROUNDS]
 */

import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { realWorld } from '../src/app/world.ts';
import { thisProcess } from '../src/engine/item/liveness.ts';
import { parse } from '../src/pipeline/extract/format/parse.ts';
import type { ParseInput, Parser } from '../src/pipeline/extract/parsed.ts';
import { processParser } from '../src/pipeline/extract/process/process-parser.ts';

const [folder, rounds = '3'] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder of HTML pages');
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.html'))
  .map((name) => ({
    bytes: readFileSync(join(folder, name)),
    mediaType: 'text/html',
    source: name,
  }));

const tiny = { bytes: Buffer.from('<p>A tiny page.'), mediaType: 'text/html', source: 'tiny' };

console.table([
  await measure('in this process', parse, () => []),
  await measurePool(1),
  await measurePool(availableParallelism()),
]);

async function measurePool(size: number) {
  const pool = processParser({ owner: thisProcess(), world: realWorld(), size });
  const row = await measure(`${size} of ${size} at work`, pool.parse, pool.pids);
  await pool.close();
  return row;
}

async function measure(way: string, parser: Parser, pids: () => readonly number[]) {
  // The JIT compiler needs a warm-up round.
  await round(parser, pages);
  const from = performance.now();
  const cpuFrom = cpuMs(pids());
  for (let count = 0; count < Number(rounds); count += 1) await round(parser, pages);
  const total = pages.length * Number(rounds);
  const cpu = (cpuMs(pids()) - cpuFrom) / total;
  const pagesPerSecond = (total / (performance.now() - from)) * 1000;
  return {
    way,
    'pages/s': Math.round(pagesPerSecond),
    'CPU ms/page': cpu.toFixed(2),
    'CPU ms/tiny page': (await tinyCpuMs(parser, pids)).toFixed(3),
  };
}

async function round(parser: Parser, inputs: readonly ParseInput[]): Promise<void> {
  await Promise.allSettled(inputs.map((input) => parser(input, new AbortController().signal)));
}

/** The cost of a minimal page: the round trip. */
async function tinyCpuMs(parser: Parser, pids: () => readonly number[]): Promise<number> {
  const times = 200;
  const many = Array.from({ length: times }, () => tiny);
  await round(parser, many.slice(0, 100));
  const from = cpuMs(pids());
  await round(parser, many);
  return (cpuMs(pids()) - from) / times;
}

/** Of this process and of the given ones; their ticks are hundredths of a second. */
function cpuMs(pids: readonly number[]): number {
  const { user, system } = process.cpuUsage();
  const theirs = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  });
  return theirs.reduce((sum, ms) => sum + ms, (user + system) / 1000);
}
