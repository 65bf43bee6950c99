/**
 * The cost of durability: the same pages through Pawl and through the same functions without it, in
 * turns, so that other load on the machine affects both alike.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../measure/child.ts';
import type { Section } from '../measure/figure.ts';
import { median, type Reading } from '../measure/reading.ts';
import { writePages } from './pages.ts';

export interface PipelineOptions {
  readonly isQuick: boolean;
  readonly tell: (line: string) => void;
}

const loads = {
  quick: { rounds: 1, pages: 200, documents: 3_000 },
  full: { rounds: 5, pages: 2_000, documents: 100_000 },
} as const;

const places = 16;
/** Before anything is timed, so that neither side is measured while its code is compiled. */
const pagesBefore = 200;
const seed = 7;
const articleWords = 800;
const shareMin = 0.9;
/** The growth over the first thousand documents that still counts as flat. */
const growthMax = 1.5;

export async function benchPipeline(options: PipelineOptions): Promise<Section[]> {
  const { rounds, pages, documents } = loads[options.isQuick ? 'quick' : 'full'];
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  try {
    const [warmUp, from] = [join(folder, 'first'), join(folder, 'pages')];
    writePages({ directory: warmUp, count: pagesBefore, words: articleWords, seed: seed + 1 });
    writePages({ directory: from, count: pages, words: articleWords, seed });
    const readings: Reading[] = [];
    const take = async (script: string, request: object, flags?: string[]): Promise<void> => {
      const directory = mkdtempSync(join(folder, 'store-'));
      const taken = await readingsOf(script, { ...request, directory }, flags);
      rmSync(directory, { recursive: true });
      for (const { measure, value } of taken) options.tell(`${measure}: ${value.toFixed(2)}`);
      readings.push(...taken);
    };
    for (let round = 0; round < rounds; round++) {
      await take('plain', { warmUp, pages: from, places });
      await take('durable', { warmUp, pages: from, places });
    }
    await take('memory', { documents }, pawlFlags());
    return [durability(readings), memory(readings, documents)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The Node flags of `pawl ingest` and `pawl serve`. */
export function pawlFlags(): string[] {
  const file = new URL('../../bin/node-flags.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).ingest;
}

async function readingsOf(
  script: string,
  request: object,
  flags?: readonly string[],
): Promise<readonly Reading[]> {
  const answer = await ask(new URL(`./${script}.ts`, import.meta.url), request, flags);
  if ('failure' in answer) throw new Error(`${script} ${answer.failure}`);
  return answer.readings;
}

function middle(readings: readonly Reading[], key: string): number {
  const own = readings.filter(({ measure }) => measure === key);
  return median(own.map(({ value }) => value)) ?? Number.NaN;
}

/** Per turn: other load changes from one turn to the next. */
function middleShare(readings: readonly Reading[]): number {
  const valuesOf = (key: string): number[] =>
    readings.filter(({ measure }) => measure === key).map(({ value }) => value);
  const plain = valuesOf('plain');
  const shares = valuesOf('durable').map((value, turn) => value / (plain[turn] ?? Number.NaN));
  return median(shares) ?? Number.NaN;
}

function durability(readings: readonly Reading[]): Section {
  const plain = middle(readings, 'plain');
  const durable = middle(readings, 'durable');
  return {
    title: 'What durability costs',
    note: `Pages of about ${articleWords} words from files, ${places} at once, medians, in turns.`,
    figures: [
      { name: 'without durability, pages/s', value: plain, digits: 1 },
      { name: 'through Pawl, pages/s', value: durable, digits: 1 },
      {
        name: 'share, median of the turns',
        value: middleShare(readings),
        digits: 2,
        target: { atLeast: shareMin },
      },
    ],
  };
}

function memory(readings: readonly Reading[], documents: number): Section {
  const growth = middle(readings, 'memory-growth');
  return {
    title: 'Memory while a corpus grows',
    note:
      `Resident memory of the process, at its highest, over ${documents} short documents, ` +
      'in a Node with the flags of bin/pawl.',
    figures: [
      { name: 'first thousand, MiB', value: middle(readings, 'memory-early'), digits: 0 },
      { name: 'last three thousand, MiB', value: middle(readings, 'memory-late'), digits: 0 },
      { name: 'times', value: growth, digits: 2, target: { atMost: growthMax } },
    ],
  };
}
