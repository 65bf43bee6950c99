/**
 * How long each format takes, on the samples and on PDFs of many pages: one that is set like a
 * book, one that is dense like a journal, and those that are named.
 *
 *   node bench/formats.ts [PDF...]
 *
 * Wall clock and processor time of one process; `pages/s` counts processor time, the least of the
 * rounds, so that a busy machine blurs it little.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from '../src/pipeline/extract/format/parse.ts';
import { mediaTypeOf } from '../src/pipeline/fetch/http/media-type.ts';
import { bookPdf, densePdf } from './made-pdf.ts';

const samples = join(import.meta.dirname, '../test/samples/format');
const never = new AbortController().signal;
const runsOf = (name: string) => (/^(?:notice|scan)\./.test(name) ? 3 : 20);
const pdfRounds = 4;

interface Reading {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly pages: number;
  readonly pagesRecognized: number;
}

async function read(name: string, bytes: Uint8Array): Promise<Reading> {
  const mediaType = mediaTypeOf(name, bytes) ?? 'unknown';
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const { meta } = await parse({ bytes, mediaType, source: name }, never);
  const { user, system } = process.cpuUsage(before);
  return {
    wallMs: performance.now() - startedAt,
    cpuMs: (user + system) / 1000,
    pages: Number(meta.pages ?? 1),
    pagesRecognized: Number(meta.pages_recognized ?? 0),
  };
}

async function readAgain(name: string, bytes: Uint8Array, rounds: number): Promise<Reading[]> {
  await read(name, bytes);
  const readings: Reading[] = [];
  for (let round = 0; round < rounds; round += 1) readings.push(await read(name, bytes));
  return readings;
}

async function tellPdf(kind: string, bytes: Uint8Array): Promise<void> {
  const readings = await readAgain('file.pdf', bytes, pdfRounds);
  const { pages = 0, pagesRecognized = 0 } = readings[0] ?? {};
  const rate = (ms: number[]) => ((1000 * pages) / Math.min(...ms)).toFixed(0);
  const perCore = rate(readings.map(({ cpuMs }) => cpuMs));
  const byClock = rate(readings.map(({ wallMs }) => wallMs));
  const recognized = pagesRecognized > 0 ? `, ${pagesRecognized} of them recognized` : '';
  const speed = `${perCore} pages/s per core, ${byClock} by the clock`;
  console.log(`PDF, ${kind}, ${pages} pages${recognized}: ${speed}`);
}

await tellPdf('like a book', bookPdf(400));
await tellPdf('dense, two columns and a table', densePdf(100));
for (const path of process.argv.slice(2)) await tellPdf(basename(path), readFileSync(path));

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
console.log('\nsample                      ms   processor ms');
for (const name of globSync('*', { cwd: samples }).sort()) {
  if (name.endsWith('.expected')) continue;
  const readings = await readAgain(name, readFileSync(join(samples, name)), runsOf(name));
  const columns = [mean(readings.map((r) => r.wallMs)), mean(readings.map((r) => r.cpuMs))];
  console.log(`${name.padEnd(24)}${columns.map((ms) => ms.toFixed(1).padStart(10)).join('')}`);
}
