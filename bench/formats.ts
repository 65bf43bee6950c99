/**
 * How long each format takes, on the samples and on a PDF of many pages: `node bench/formats.ts`.
 * Wall clock and processor time of one process; `pages/s` counts processor time, so that a busy
 * machine does not blur it.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '../src/pipeline/extract/format/parse.ts';
import { mediaTypeOf } from '../src/pipeline/fetch/media-type.ts';
import { writePdf } from '../test/support/pdf-writer.ts';

const samples = join(import.meta.dirname, '../src/pipeline/extract/format/samples');
const never = new AbortController().signal;
const pageCount = 400;
const runsOf = (name: string) => (/^(?:notice|scan)\./.test(name) ? 3 : 20);

interface Reading {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function measure(name: string, bytes: Uint8Array, runs: number): Promise<Reading> {
  const mediaType = mediaTypeOf(name, bytes) ?? 'unknown';
  const input = { bytes, mediaType, source: name };
  await parse(input, never);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  for (let run = 0; run < runs; run += 1) await parse(input, never);
  const { user, system } = process.cpuUsage(before);
  return {
    wallMs: (performance.now() - startedAt) / runs,
    cpuMs: (user + system) / 1000 / runs,
  };
}

const words = 'harbour ship quay crane cargo ferry tide anchor captain market signal weather'.split(
  ' ',
);

/** Forty lines of ten words, as a printed page has. */
function bookPage(page: number): string {
  const lines = Array.from({ length: 40 }, (_, line) => {
    const text = Array.from({ length: 10 }, (_, at) => words[(page * 31 + line * 7 + at * 5) % 12]);
    return `1 0 0 1 72 ${740 - line * 17} Tm (${text.join(' ')}) Tj`;
  });
  return `BT /F1 11 Tf ${lines.join(' ')} ET`;
}

const book = writePdf(Array.from({ length: pageCount }, (_, page) => bookPage(page)));
const { wallMs, cpuMs } = await measure('book.pdf', book, 2);
const rate = (ms: number) => ((1000 * pageCount) / ms).toFixed(0);
console.log(
  `PDF of ${pageCount} pages: ${rate(cpuMs)} pages/s per core, ${rate(wallMs)} by the clock`,
);
console.log('\nsample                      ms   processor ms');
for (const name of globSync('*', { cwd: samples }).sort()) {
  if (name.endsWith('.expected')) continue;
  const reading = await measure(name, readFileSync(join(samples, name)), runsOf(name));
  const columns = [reading.wallMs, reading.cpuMs].map((ms) => ms.toFixed(1).padStart(10));
  console.log(`${name.padEnd(24)}${columns.join('')}`);
}
