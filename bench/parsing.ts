/**
 * What it costs to parse in processes that can be killed: pages per second here, and through one,
 * two and as many processes as there are cores.
 *
 *   node bench/parsing.ts FOLDER-OF-HTML [ROUNDS]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parse } from '../src/pipeline/extract/format/parse.ts';
import type { ParseInput, Parser } from '../src/pipeline/extract/parsed.ts';
import { processParser } from '../src/pipeline/extract/process/process-parser.ts';
import { realWorld } from '../src/world.ts';

const [folder, rounds = '3'] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder of HTML pages');
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.html'))
  .map((name) => ({
    bytes: readFileSync(join(folder, name)),
    mediaType: 'text/html',
    source: name,
  }));

console.table([
  await measure('in this process', parse),
  await measurePool(1),
  await measurePool(availableParallelism()),
]);

async function measurePool(size: number) {
  const pool = processParser({ world: realWorld(), size });
  const row = await measure(`${size} process${size === 1 ? '' : 'es'}`, pool.parse);
  await pool.close();
  return row;
}

async function measure(way: string, parser: Parser) {
  const startedAt = performance.now();
  await round(parser, pages.slice(0, 8));
  const firstMs = performance.now() - startedAt;
  // The compiler needs a round to make the code fast.
  await round(parser, pages);
  const from = performance.now();
  for (let count = 0; count < Number(rounds); count += 1) await round(parser, pages);
  const seconds = (performance.now() - from) / 1000;
  const small = pages.toSorted((one, other) => one.bytes.length - other.bytes.length)[0];
  const alone = small ? await aloneMs(parser, small) : 0;
  return {
    way,
    'pages/s': Math.round((pages.length * Number(rounds)) / seconds),
    'smallest page alone, ms': alone.toFixed(2),
    'first 8 pages, ms': Math.round(firstMs),
  };
}

async function round(parser: Parser, inputs: readonly ParseInput[]): Promise<void> {
  await Promise.allSettled(inputs.map((input) => parser(input, new AbortController().signal)));
}

async function aloneMs(parser: Parser, input: ParseInput): Promise<number> {
  const times = 50;
  const from = performance.now();
  for (let count = 0; count < times; count += 1) await round(parser, [input]);
  return (performance.now() - from) / times;
}
